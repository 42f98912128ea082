#include "engine/runtime/default_compute_type.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/tensor/four_bit_group.h"

namespace attend {
namespace {

// Whether int4 takes the numbers as they are stored. The first row stands for
// all of its matrix.
bool HasFourBits(const TensorView& view) {
  if (view.rows == nullptr) {
    return view.type == StorageType::kQ4_0 || view.type == StorageType::kQ4_1 ||
           view.type == StorageType::kQ4K;
  }
  std::vector<FourBitGroup> groups((view.rows->cols() + kGroupNumbers - 1) /
                                   kGroupNumbers);
  return view.rows->ReadFourBits(0, absl::MakeSpan(groups));
}

}  // namespace

ComputeType DefaultComputeType(const TensorSource& tensors, Isa isa) {
  uint64_t all = 0;
  uint64_t in_four_bits = 0;
  for (const std::string& name : tensors.Names()) {
    const absl::StatusOr<TensorView> view = tensors.Find(name);
    if (!view.ok()) continue;  // not a model's; loading says what is wrong
    all += view->count();
    if (HasFourBits(*view)) in_four_bits += view->count();
  }
  if (in_four_bits > all / 2) return ComputeType::kInt4;
  if (isa >= Isa::kAvx512Vnni) return ComputeType::kInt8;
  return isa >= Isa::kAvx2 ? ComputeType::kW8 : ComputeType::kF32;
}

}  // namespace attend
