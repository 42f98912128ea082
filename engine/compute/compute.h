#ifndef ATTEND_ENGINE_COMPUTE_COMPUTE_H_
#define ATTEND_ENGINE_COMPUTE_COMPUTE_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/compute/isa.h"
#include "engine/compute/team.h"
#include "engine/tensor/buffer.h"

namespace attend {

struct ComputeOptions {
  // Threads of the team; 0: the CPU quota of the cgroup (see CpuQuota()).
  // More than the quota makes every step slower, not faster.
  int threads = 0;
  // Instructions used at most; lower ones exist for tests and comparisons.
  // oneDNN has one limit for the whole process, see LimitIsa().
  Isa max_isa = Isa::kAmx;
};

// The process's thread team and scratch memory, shared by all engines, which
// it must outlive. Not thread-safe: one step, or one load, at a time.
class Compute {
 public:
  explicit Compute(const ComputeOptions& options);

  Team& team() { return team_; }
  Isa isa() const { return isa_; }

  // One member of this as a Compute of its own: a team of one with that
  // member's scratch, for passes that members do side by side inside a Run() of
  // the team.
  Compute& alone(int member);
  // What alone() was called on, or this itself.
  const Compute& whole() const { return whole_ == nullptr ? *this : *whole_; }
  // Which member of whole() the first member of this is.
  int first_member() const { return first_member_; }

  // Makes sure that scratch() of every member holds `floats`. Load time only,
  // and of the whole only.
  void ReserveScratch(size_t floats);
  // Temporary memory of one member; contents end with the op that uses it.
  absl::Span<float> scratch(int member);

  // What the ops keep for all engines on this Compute; only they know its type
  // (see DnnlContext). Load time only.
  std::shared_ptr<void>& op_state() {
    return whole_ == nullptr ? op_state_ : whole_->op_state_;
  }

 private:
  Compute(Compute& whole, int member);

  Team team_;
  Isa isa_;
  Compute* const whole_ = nullptr;
  const int first_member_ = 0;
  std::vector<std::unique_ptr<Compute>> alone_;  // [members], none for one
  std::vector<Buffer<float>> scratch_;           // [members]
  std::shared_ptr<void> op_state_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_COMPUTE_H_
