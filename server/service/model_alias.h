#ifndef ATTEND_SERVER_SERVICE_MODEL_ALIAS_H_
#define ATTEND_SERVER_SERVICE_MODEL_ALIAS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace attend {

// A model that an alias names.
struct AliasTarget {
  std::string model;  // its name, not that of an alias
  int weight = 1;     // its part of the alias's calls
};

// A name whose calls go to other models. It may be the name of a model, which
// calls then reach as one of the targets.
struct ModelAlias {
  static constexpr size_t kMaxTargets = 16;
  static constexpr int kMaxWeight = 1'000'000;

  std::string name;
  std::vector<AliasTarget> targets;

  // INVALID_ARGUMENT: the targets are none or too many, one comes twice, or has
  // a weight that is not in [1, kMaxWeight].
  absl::Status CheckTargets() const;
};

// Which of the targets gets the call of that number: the one of index i gets
// its part, weights[i] of their sum. Of any calls one after the other, the
// counts are as near to the parts as they can be, but for a few calls. Weight
// 0: the target gets none; at least one has another.
size_t PickTarget(absl::Span<const int> weights, uint64_t call);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_MODEL_ALIAS_H_
