#ifndef ATTEND_ENGINE_COMPUTE_NUMA_NODES_H_
#define ATTEND_ENGINE_COMPUTE_NUMA_NODES_H_

#include <sched.h>

#include <string>
#include <vector>

namespace attend {

// The NUMA nodes on whose CPUs a thread may run. A part of the machine's memory
// belongs to each node; its own CPUs read that part faster than others do. The
// kernel takes a page from the node of the CPU that writes to it first.
class NumaNodes {
 public:
  // More are one node: with as many, a node has few CPUs of its own.
  static constexpr int kMost = 8;

  // One node, whose CPUs are of no interest.
  NumaNodes() = default;
  // The nodes with these CPUs, none of which is empty.
  explicit NumaNodes(std::vector<cpu_set_t> nodes);
  // Those of the calling thread's CPUs; one if the system does not say. `root`:
  // the directory that has /sys.
  static NumaNodes Find(const std::string& root = "/");

  int size() const {
    return nodes_.empty() ? 1 : static_cast<int>(nodes_.size());
  }
  // All CPUs of several nodes; 0 for one node.
  int cpus() const;
  // Where a member of a team computes: each node has members in proportion to
  // its CPUs, and these have numbers that follow each other.
  int NodeOf(int member, int members) const;
  // From now on the calling thread runs on that node's CPUs only. Does nothing
  // if there is one node, or if the system refuses.
  void Enter(int node) const;

 private:
  std::vector<cpu_set_t> nodes_;  // empty: one node
};

// While it exists, the calling thread runs on one node's CPUs.
class OnNode {
 public:
  OnNode(const NumaNodes& nodes, int node);
  ~OnNode();
  OnNode(const OnNode&) = delete;
  OnNode& operator=(const OnNode&) = delete;

 private:
  cpu_set_t before_;
  bool entered_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_NUMA_NODES_H_
