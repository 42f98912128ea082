#include "engine/compute/compute.h"

#include <algorithm>

#include "engine/compute/cpu_quota.h"

namespace attend {

Compute::Compute(const ComputeOptions& options)
    : team_(options.threads > 0 ? options.threads : CpuQuota()),
      isa_(std::min(options.max_isa, DetectIsa())),
      scratch_(team_.size()) {
  if (team_.size() == 1) return;
  for (int member = 0; member < team_.size(); ++member) {
    alone_.emplace_back(new Compute(*this, member));
  }
}

Compute::Compute(Compute& whole, int member)
    : team_(1), isa_(whole.isa_), whole_(&whole), first_member_(member) {}

Compute& Compute::alone(int member) {
  return alone_.empty() ? *this : *alone_[member];
}

void Compute::ReserveScratch(size_t floats) {
  for (Buffer<float>& scratch : scratch_) {
    if (scratch.size() < floats) scratch = Buffer<float>(floats);
  }
}

absl::Span<float> Compute::scratch(int member) {
  if (whole_ != nullptr) return whole_->scratch(first_member_);
  return {scratch_[member].data(), scratch_[member].size()};
}

}  // namespace attend
