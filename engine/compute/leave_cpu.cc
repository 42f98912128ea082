#include "engine/compute/leave_cpu.h"

#include <sched.h>

namespace attend {

int CurrentCpu() { return sched_getcpu(); }

bool LeaveCpu(int cpu) {
  // More CPUs than a cpu_set_t has: the system refuses, and the thread stays.
  cpu_set_t allowed;
  if (sched_getcpu() != cpu ||
      sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return false;
  }
  cpu_set_t others = allowed;
  CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) == 0 ||
      sched_setaffinity(0, sizeof others, &others) != 0) {
    return false;
  }
  sched_setaffinity(0, sizeof allowed, &allowed);
  return true;
}

}  // namespace attend
