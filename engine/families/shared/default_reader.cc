#include "engine/families/shared/default_reader.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<double> DefaultReader::Number(absl::string_view key,
                                             double fallback) const {
  constexpr double kMax = std::numeric_limits<float>::max();
  return file_.FloatOr(key, fallback, {-kMax, kMax});
}

absl::StatusOr<int> DefaultReader::Int(absl::string_view key,
                                       int fallback) const {
  constexpr double kMin = std::numeric_limits<int>::min();
  constexpr double kMax = std::numeric_limits<int>::max();
  const absl::StatusOr<double> number = Number(key, fallback);
  if (number.ok() && *number >= kMin && *number <= kMax &&
      *number == std::floor(*number)) {
    return static_cast<int>(*number);
  }
  return file_.Unexpected(key, "an integer");
}

bool DefaultReader::IsTrue(absl::string_view key) const {
  return !file_.ExpectNeutral(key, 0).ok();
}

absl::StatusOr<std::vector<int>> DefaultReader::Ids(
    absl::string_view key) const {
  if (!file_.Has(key)) return std::vector<int>();
  if (const auto id = Int(key, 0); id.ok()) return std::vector<int>{*id};
  return file_.Ints(key);
}

absl::StatusOr<std::vector<int>> DefaultReader::KnownIds(
    absl::string_view key) const {
  ASSIGN_OR_RETURN(std::vector<int> ids, Ids(key));
  std::erase_if(ids, [this](int id) { return id < ids_.min || id > ids_.max; });
  return ids;
}

absl::StatusOr<int> DefaultReader::OneId(absl::string_view key) const {
  ASSIGN_OR_RETURN(const std::vector<int> ids, Ids(key));
  if (!file_.Has(key)) return -1;
  if (ids.size() == 1 && ids[0] >= ids_.min && ids[0] <= ids_.max) {
    return ids[0];
  }
  return file_.Unexpected(
      key, absl::StrCat("a token id in [", ids_.min, ", ", ids_.max, "]"));
}

void DefaultReader::Drop(absl::string_view field, const absl::Status& why,
                         When when) {
  warnings_.emplace_back(why.message());
  missing_.push_back({std::string(field), std::string(why.message()), when});
}

}  // namespace attend
