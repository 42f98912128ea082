#include "engine/runtime/default_compute_type.h"

#include <cstdint>
#include <string>

namespace attend {
namespace {

bool HasFourBits(StorageType type) {
  return type == StorageType::kQ4_0 || type == StorageType::kQ4_1 ||
         type == StorageType::kQ4K;
}

}  // namespace

ComputeType DefaultComputeType(const TensorSource& tensors, Isa isa) {
  uint64_t all = 0;
  uint64_t in_four_bits = 0;
  for (const std::string& name : tensors.Names()) {
    const absl::StatusOr<TensorView> view = tensors.Find(name);
    if (!view.ok()) continue;  // not a model's; loading says what is wrong
    all += view->count();
    if (HasFourBits(view->type)) in_four_bits += view->count();
  }
  if (in_four_bits > all / 2) return ComputeType::kInt4;
  if (isa >= Isa::kAvx512Vnni) return ComputeType::kInt8;
  return isa == Isa::kAvx2 ? ComputeType::kW8 : ComputeType::kF32;
}

}  // namespace attend
