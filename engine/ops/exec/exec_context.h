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

// What ops run on: a team of threads, and the memory that its members work in.
// Ops are const; what a run of theirs changes is in here and in its arguments.
// One worker's, and not thread-safe. Contexts of one model are independent:
// they may run at the same time, on teams of their own.
class ExecContext {
 public:
  // For the ops made with `primitives`, to which none are added any more. Both
  // must outlive the context. `compute` has the same instructions as that of
  // the primitives, and any number of threads.
  ExecContext(Compute& compute, const Primitives& primitives);
  ~ExecContext();
  ExecContext(const ExecContext&) = delete;
  ExecContext& operator=(const ExecContext&) = delete;

  // For ops that need threads, and no working memory.
  Compute& compute() { return compute_; }
  Team& team() { return compute_.team(); }
  Isa isa() const { return compute_.isa(); }

  // One member as a context of its own, a team of one: for passes that members
  // do side by side inside a Run() of the team.
  ExecContext& alone(int member) {
    return alone_.empty() ? *this : *alone_[member];
  }
  // Which member of the whole team the first of this is.
  int first_member() const { return first_member_; }

  // Temporary memory of one member, which nobody else may look at; contents
  // end with the op that uses it.
  absl::Span<float> scratch(int member) {
    Buffer<float>& scratch = alone(member).scratch_;
    return {scratch.data(), scratch.size()};
  }
  // Temporary memory of all members of a team of several: what one wrote in a
  // Run() of the team all may read in the next.
  absl::Span<float> exchange() { return {exchange_.data(), exchange_.size()}; }
  // What one member needs to execute primitives.
  DnnlMember& dnnl(int member) { return *alone(member).dnnl_; }

 private:
  ExecContext(Compute& compute, const Primitives& primitives, int first_member);

  Compute& compute_;
  const int first_member_;
  // Of a team of one.
  Buffer<float> scratch_;
  std::unique_ptr<DnnlMember> dnnl_;
  // Of a team of several.
  std::vector<std::unique_ptr<ExecContext>> alone_;  // [members]
  Buffer<float> exchange_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_EXEC_CONTEXT_H_
