#ifndef ATTEND_SERVER_CONNECT_ENVELOPE_H_
#define ATTEND_SERVER_CONNECT_ENVELOPE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// A stream of the Connect protocol consists of envelopes: a byte of flags, the
// length of the payload (32 bits, the highest byte first), the payload.
inline constexpr uint8_t kMessageFlags = 0;
inline constexpr uint8_t kEndOfStreamFlags = 2;

void AppendEnvelope(uint8_t flags, absl::string_view payload,
                    std::string& text);

// The payload of the only envelope, which a client that streams nothing sends.
// INVALID_ARGUMENT if `body` is something else.
absl::StatusOr<absl::string_view> OpenEnvelope(absl::string_view body);

}  // namespace attend

#endif  // ATTEND_SERVER_CONNECT_ENVELOPE_H_
