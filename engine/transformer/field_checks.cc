#include "engine/transformer/field_checks.h"

#include <cmath>

namespace attend {

absl::Status Unexpected(const std::string& field, const absl::AlphaNum& value,
                        absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "transformer: ", field, " is ", value, ", expected ", expected));
}

absl::Status AtLeast(const std::string& field, int value, int least) {
  if (value >= least) return absl::OkStatus();
  return Unexpected(field, value, absl::StrCat(least, " or more"));
}

absl::Status Positive(const std::string& field, float value) {
  if (std::isfinite(value) && value > 0) return absl::OkStatus();
  return Unexpected(field, value, "a positive number");
}

absl::Status ZeroOrMore(const std::string& field, float value) {
  if (std::isfinite(value) && value >= 0) return absl::OkStatus();
  return Unexpected(field, value, "0 or more");
}

absl::Status Same(const std::string& field, int value, const std::string& other,
                  int expected) {
  if (value == expected) return absl::OkStatus();
  return Unexpected(field, value,
                    absl::StrCat("that of ", other, ", ", expected));
}

absl::Status Neutral(const std::string& field, float value, float neutral,
                     absl::string_view where) {
  if (value == neutral) return absl::OkStatus();
  return Unexpected(
      field, value,
      absl::StrCat(neutral, " ", where, ": nothing else is computed there"));
}

absl::Status Unset(const std::string& field, bool set,
                   absl::string_view where) {
  if (!set) return absl::OkStatus();
  return Unexpected(
      field, "set",
      absl::StrCat("unset ", where, ": it is not computed there"));
}

}  // namespace attend
