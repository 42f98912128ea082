#include "server/service/model_alias.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// 2^64 / the golden ratio: its multiples, modulo 2^64, are spread more evenly
// than random numbers, and have no period that clients could have too.
constexpr uint64_t kGoldenStep = 0x9e37'79b9'7f4a'7c15;

}  // namespace

absl::Status ModelAlias::CheckTargets() const {
  if (targets.empty() || targets.size() > kMaxTargets) {
    return absl::InvalidArgumentError(
        absl::StrCat("alias '", absl::CHexEscape(name), "' has ",
                     targets.size(), " targets, must be 1 to ", kMaxTargets));
  }
  for (const AliasTarget& target : targets) {
    const std::string model = absl::CHexEscape(target.model.substr(0, 100));
    if (target.weight < 1 || target.weight > kMaxWeight) {
      return absl::InvalidArgumentError(
          absl::StrCat("weight of '", model, "' is ", target.weight,
                       ", must be in [1, ", kMaxWeight, "]"));
    }
    const auto same = [&](const AliasTarget& other) {
      return other.model == target.model;
    };
    if (std::count_if(targets.begin(), targets.end(), same) == 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("alias '", absl::CHexEscape(name), "' names model '",
                     model, "' twice, must name a model once"));
  }
  return absl::OkStatus();
}

size_t PickTarget(absl::Span<const int> weights, uint64_t call) {
  const uint64_t sum =
      std::accumulate(weights.begin(), weights.end(), uint64_t{0});
  // A number below 2^32, of which the sum takes its share.
  uint64_t place = ((call * kGoldenStep) >> 32) * sum >> 32;
  size_t target = 0;
  while (place >= static_cast<uint64_t>(weights[target])) {
    place -= weights[target++];
  }
  return target;
}

}  // namespace attend
