#ifndef ATTEND_TESTS_ENGINE_COMPUTE_TWO_NODES_H_
#define ATTEND_TESTS_ENGINE_COMPUTE_TWO_NODES_H_

#include <sched.h>

#include <vector>

#include "engine/compute/numa_nodes.h"

namespace attend {

// The CPUs that the calling thread may use.
inline cpu_set_t AllowedCpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  return allowed;
}

// Two nodes: one has the first of these CPUs, the other the last. (They are the
// same where there is but one.)
inline std::vector<cpu_set_t> TwoNodes() {
  const cpu_set_t allowed = AllowedCpus();
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  std::vector<cpu_set_t> nodes(2);
  for (cpu_set_t& node : nodes) CPU_ZERO(&node);
  CPU_SET(cpus.front(), &nodes[0]);
  CPU_SET(cpus.back(), &nodes[1]);
  return nodes;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_COMPUTE_TWO_NODES_H_
