#ifndef ATTEND_ENGINE_TRANSFORMER_FIELD_CHECKS_H_
#define ATTEND_ENGINE_TRANSFORMER_FIELD_CHECKS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {

// Checks of single fields for TransformerSpec::Validate(). `field` is the path
// of a field, as "decoder.layers[3].norm.epsilon". All errors are
// INVALID_ARGUMENT.

// "<field> is <value>, expected <expected>".
absl::Status Unexpected(const std::string& field, const absl::AlphaNum& value,
                        absl::string_view expected);

absl::Status AtLeast(const std::string& field, int value, int least);
// Check that the number is finite, and above 0, or 0 or more.
absl::Status Positive(const std::string& field, float value);
absl::Status ZeroOrMore(const std::string& field, float value);
// Checks that two fields have the same value.
absl::Status Same(const std::string& field, int value, const std::string& other,
                  int expected);
// Check that a field which is not computed `where` ("in cross-attention") has
// its neutral value, or is not set.
absl::Status Neutral(const std::string& field, float value, float neutral,
                     absl::string_view where);
absl::Status Unset(const std::string& field, bool set, absl::string_view where);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_FIELD_CHECKS_H_
