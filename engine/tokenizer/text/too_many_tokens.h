#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_TOO_MANY_TOKENS_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_TOO_MANY_TOKENS_H_

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace attend {

// The payload of errors by which a client can tell that fewer tokens would do.
inline constexpr char kTooManyTokensUrl[] = "attend/too_many_tokens";

// INVALID_ARGUMENT with that payload.
inline absl::Status TooManyTokensError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kTooManyTokensUrl, absl::Cord());
  return status;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_TOO_MANY_TOKENS_H_
