#ifndef ATTEND_ENGINE_COMPUTE_NUMA_NODES_H_
#define ATTEND_ENGINE_COMPUTE_NUMA_NODES_H_

#include <sched.h>

#include <string>
#include <vector>

namespace attend {

// The NUMA nodes on whose CPUs a thread may run. Each node has local memory,
// which its own CPUs read faster than others do. The
// kernel allocates a page in the node of the CPU that first writes to it.
class NumaNodes {
 public:
  // More nodes are treated as one, because each would have few CPUs.
  static constexpr int kMost = 8;

  // One node with unspecified CPUs.
  NumaNodes() = default;
  // The nodes with these CPUs, none of which is empty.
  explicit NumaNodes(std::vector<cpu_set_t> nodes);
  // Returns the nodes of the calling thread's CPUs; one node if they are
  // unknown. `root`: the directory that has /sys.
  static NumaNodes Find(const std::string& root = "/");

  int size() const {
    return nodes_.empty() ? 1 : static_cast<int>(nodes_.size());
  }
  // All CPUs of several nodes; 0 for one node.
  int cpus() const;
  // Returns the node of a team member: each node has consecutive members in
  // proportion to its CPUs.
  int NodeOf(int member, int members) const;
  // Pins the calling thread to that node's CPUs. Does nothing
  // if there is one node, or if the system refuses.
  void Enter(int node) const;

 private:
  std::vector<cpu_set_t> nodes_;  // empty: one node
};

// Pins the calling thread to one node's CPUs for its lifetime.
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
