#include "engine/families/ctranslate2/ct2_attributes.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {

std::optional<double> Ct2Attributes::Find(const std::string& name) {
  read_.insert(name);
  return model_.Attribute(name);
}

bool Ct2Attributes::IsFloat(const std::string& name) const {
  return model_.IsFloat(name);
}

absl::Status Ct2Attributes::Unexpected(absl::string_view name,
                                       absl::string_view expected) const {
  const std::optional<double> value = model_.Attribute(name);
  return absl::InvalidArgumentError(absl::StrCat(
      model_.path(), ": attribute ", name, " is ",
      value ? absl::StrCat(*value) : "missing", ", expected ", expected));
}

absl::StatusOr<int> Ct2Attributes::Int(const std::string& name, IntRange range,
                                       std::optional<int> fallback) {
  const std::optional<double> value = Find(name);
  if (!value && fallback) return *fallback;
  if (value && *value >= static_cast<double>(range.min) &&
      *value <= static_cast<double>(range.max) &&
      *value == std::floor(*value)) {
    return static_cast<int>(*value);
  }
  return Unexpected(name, absl::StrCat("a whole number in [", range.min, ", ",
                                       range.max, "]"));
}

absl::StatusOr<float> Ct2Attributes::Float(const std::string& name,
                                           FloatRange range, float fallback) {
  const std::optional<double> value = Find(name);
  if (!value) return fallback;
  if (*value >= range.min && *value <= range.max) {
    return static_cast<float>(*value);
  }
  return Unexpected(
      name, absl::StrCat("a number in [", range.min, ", ", range.max, "]"));
}

absl::StatusOr<bool> Ct2Attributes::Flag(const std::string& name) {
  ASSIGN_OR_RETURN(const int flag, Int(name, {0, 1}, 0));
  return flag == 1;
}

absl::Status Ct2Attributes::Expect(const std::string& name, double value) {
  const std::optional<double> found = Find(name);
  if (!found || *found == value) return absl::OkStatus();
  return Unexpected(name, absl::StrCat(value));
}

absl::Status Ct2Attributes::CheckAllRead() const {
  for (const std::string& name : model_.Attributes()) {
    if (read_.count(name) > 0) continue;
    return Unexpected(name, "no such attribute");
  }
  return absl::OkStatus();
}

}  // namespace attend
