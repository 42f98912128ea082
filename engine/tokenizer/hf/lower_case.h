#ifndef ATTEND_ENGINE_TOKENIZER_HF_LOWER_CASE_H_
#define ATTEND_ENGINE_TOKENIZER_HF_LOWER_CASE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// `json`, the contents of a tokenizer.json, with a normaliser before all others
// that puts texts in lower case, unless one of them does so by that name: what
// `do_lower_case` of sentence-transformers means. Special tokens in a text stay
// as they are.
absl::StatusOr<std::string> WithLowerCase(const std::string& path,
                                          absl::string_view json);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_LOWER_CASE_H_
