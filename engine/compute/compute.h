#ifndef ATTEND_ENGINE_COMPUTE_COMPUTE_H_
#define ATTEND_ENGINE_COMPUTE_COMPUTE_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/compute/cpu_quota.h"
#include "engine/compute/isa.h"
#include "engine/compute/numa_nodes.h"
#include "engine/compute/team.h"

namespace attend {

struct ComputeOptions {
  // Threads of the team; 0: the CPU quota of the cgroup (see CpuQuota()).
  // More than the quota makes every step slower, not faster.
  int threads = 0;
  // The highest instruction set to use; lower ones are for tests and
  // comparisons. oneDNN has one limit for the whole process, see LimitIsa().
  Isa max_isa = Isa::kAmx;
  // The nodes of the team; nullopt: NodesFor() the threads. Others are for
  // tests.
  std::optional<NumaNodes> nodes = std::nullopt;
};

// Returns the NUMA nodes of a team with `threads` threads: the machine's, if
// the team has all CPUs of several nodes. Smaller teams, possibly of several
// processes, would all be pinned to the first node, so the kernel places them.
inline NumaNodes NodesFor(int threads) {
  NumaNodes all = NumaNodes::Find();
  return threads == all.cpus() ? std::move(all) : NumaNodes();
}

// The process's thread team, which all engines share. It must outlive the
// engines. One step, or one load, at a time, except on a team of one, which has
// no state; but see LoadAlone(). The working memory of ops is in an
// ExecContext.
class Compute {
 public:
  explicit Compute(const ComputeOptions& options)
      : Compute(options.threads > 0 ? options.threads : CpuQuota(), options) {}

  Team& team() { return team_; }
  const Team& team() const { return team_; }
  Isa isa() const { return isa_; }

  // A team of one, for work that each member does alone inside a Run() of the
  // team. It has no state: all members may use it at the same time.
  Compute& alone() { return alone_ == nullptr ? *this : *alone_; }

  // From now on loads leave the team to steps, and pack weights on their own
  // thread: loads and steps may run at the same time. To be called while
  // neither runs.
  void LoadAlone() { packing_team_ = &alone().team_; }
  // The team with which loads pack weights.
  Team& packing_team() { return *packing_team_; }

 private:
  Compute(int threads, const ComputeOptions& options)
      : team_(threads, options.nodes ? *options.nodes : NodesFor(threads)),
        isa_(std::min(options.max_isa, DetectIsa())),
        alone_(threads == 1
                   ? nullptr
                   : new Compute({.threads = 1, .max_isa = options.max_isa})) {}

  Team team_;
  Isa isa_;
  const std::unique_ptr<Compute> alone_;  // null: this is one thread already
  Team* packing_team_ = &team_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_COMPUTE_H_
