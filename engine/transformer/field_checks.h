#ifndef ATTEND_ENGINE_TRANSFORMER_FIELD_CHECKS_H_
#define ATTEND_ENGINE_TRANSFORMER_FIELD_CHECKS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {

// What TransformerSpec::Validate() says of a field, whose name is the way to
// it: "decoder.layers[3].norm.epsilon". All errors are INVALID_ARGUMENT.

// "<field> is <value>, expected <expected>".
absl::Status Unexpected(const std::string& field, const absl::AlphaNum& value,
                        absl::string_view expected);

absl::Status AtLeast(const std::string& field, int value, int least);
// Finite numbers, above 0, or from 0 on.
absl::Status Positive(const std::string& field, float value);
absl::Status ZeroOrMore(const std::string& field, float value);
// That two fields are the same number.
absl::Status Same(const std::string& field, int value, const std::string& other,
                  int expected);
// That what would not be computed is not asked for; `where` is like "in
// cross-attention".
absl::Status Neutral(const std::string& field, float value, float neutral,
                     absl::string_view where);
absl::Status Unset(const std::string& field, bool set, absl::string_view where);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_FIELD_CHECKS_H_
