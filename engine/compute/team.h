#ifndef ATTEND_ENGINE_COMPUTE_TEAM_H_
#define ATTEND_ENGINE_COMPUTE_TEAM_H_

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/compute/numa_nodes.h"
#include "engine/compute/range.h"
#include "engine/compute/waitable_counter.h"

namespace attend {

// A fixed set of threads that compute together. The caller of Run() is member
// 0; the others spin shortly (200 us, unless there are more members than CPUs)
// for the next call and then sleep. A team of one has no
// threads and no state: any number of callers may use it at once. The members
// of a team on several NUMA nodes stay each on the CPUs of its node.
class Team {
 public:
  explicit Team(int size, NumaNodes nodes = {});
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }
  const NumaNodes& nodes() const { return nodes_; }
  // The node of a member.
  int node(int member) const { return nodes_.NodeOf(member, size_); }

  // Pins the calling thread to the node of member 0, if there are several
  // nodes: for a thread that calls Run() repeatedly.
  void PlaceCaller() const;

  // Calls work(member) once for each member in [0, size()), in parallel, and
  // returns when all have returned; what they wrote is then visible to the
  // caller. `work` must not throw. Allocates nothing. One caller at a time.
  void Run(absl::FunctionRef<void(int member)> work);

 private:
  Team(int size, NumaNodes nodes, std::chrono::microseconds spin);
  void Work(int member);

  const int size_;
  const NumaNodes nodes_;
  // Written by Run() before it raises call_, read by the members after it.
  const absl::FunctionRef<void(int)>* work_ = nullptr;
  int cpu_of_caller_ = 0;
  bool stop_ = false;
  // On separate cache lines: members write one while they read the other.
  alignas(64) WaitableCounter call_;     // raised by each Run()
  alignas(64) WaitableCounter running_;  // members not yet back
  std::vector<std::thread> threads_;     // members 1 .. size - 1
};

// The items of `total` that `member` of `members` works on. The number of items
// of each member but the last is a multiple of `grain`.
Range Share(int total, int member, int members, int grain = 1);

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_TEAM_H_
