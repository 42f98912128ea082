#include "engine/compute/compute.h"

#include <algorithm>

#include "engine/compute/cpu_quota.h"

namespace attend {

Compute::Compute(const ComputeOptions& options)
    : team_(options.threads > 0 ? options.threads : CpuQuota()),
      isa_(std::min(options.max_isa, DetectIsa())),
      scratch_(team_.size()) {}

void Compute::ReserveScratch(size_t floats) {
  for (Buffer<float>& scratch : scratch_) {
    if (scratch.size() < floats) scratch = Buffer<float>(floats);
  }
}

absl::Span<float> Compute::scratch(int member) {
  return {scratch_[member].data(), scratch_[member].size()};
}

}  // namespace attend
