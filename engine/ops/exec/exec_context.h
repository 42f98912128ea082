#ifndef ATTEND_ENGINE_OPS_EXEC_EXEC_CONTEXT_H_
#define ATTEND_ENGINE_OPS_EXEC_EXEC_CONTEXT_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/ops/exec/primitives.h"
#include "engine/tensor/buffer.h"

namespace attend {

struct DnnlMember;

// What ops run on: a team of threads, and working memory for its members. Ops
// are const; a run of an op changes only the context and its arguments. Belongs
// to one worker; not thread-safe. Contexts of one model are independent: they
// may compute at the same time, on different teams.
class ExecContext {
 public:
  // For the ops made with `primitives`; no more ops may be made with these.
  // `compute` and `primitives` must outlive the context. `compute` has the same
  // isa() as the primitives, and any number of threads.
  ExecContext(Compute& compute, const Primitives& primitives);
  ~ExecContext();
  ExecContext(const ExecContext&) = delete;
  ExecContext& operator=(const ExecContext&) = delete;

  // For ops that need threads, and no working memory.
  Compute& compute() { return compute_; }
  Team& team() { return compute_.team(); }
  Isa isa() const { return compute_.isa(); }

  // A context for one member alone, with a team of one: for work inside a Run()
  // of the team that each member does alone.
  ExecContext& alone(int member) {
    return alone_.empty() ? *this : *alone_[member];
  }
  // The number that the first member of this team has in the whole team.
  int first_member() const { return first_member_; }

  // Temporary memory of one member, for that member alone, until the end of the
  // op that uses it.
  absl::Span<float> scratch(int member) { return alone(member).scratch_; }
  // Temporary memory for all members of a team of several: what a member writes
  // in one Run() of the team, all members may read in the next Run(). It is the
  // memory of their scratch: an op may use the one or the other.
  absl::Span<float> exchange() { return {memory_.data(), memory_.size()}; }
  // The memory that one member needs to execute primitives.
  DnnlMember& dnnl(int member) { return *alone(member).dnnl_; }

 private:
  // For one member of a team.
  ExecContext(Compute& compute, const Primitives& primitives, int first_member,
              absl::Span<float> scratch);

  Compute& compute_;
  const int first_member_;
  Buffer<float> memory_;  // unless this is for one member of a team
  // For a team of one.
  absl::Span<float> scratch_;
  std::unique_ptr<DnnlMember> dnnl_;
  // For a team of several.
  std::vector<std::unique_ptr<ExecContext>> alone_;  // [members]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_EXEC_CONTEXT_H_
