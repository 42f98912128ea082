#ifndef ATTEND_ENGINE_COMPUTE_LEAVE_CPU_H_
#define ATTEND_ENGINE_COMPUTE_LEAVE_CPU_H_

namespace attend {

// The CPU on which the calling thread runs.
int CurrentCpu();

// Moves the calling thread from `cpu` to another of the CPUs that the thread
// may use. The system may move the thread back later. False, and nothing
// changed, if there is no other CPU, or the thread does not run on `cpu`.
bool LeaveCpu(int cpu);

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_LEAVE_CPU_H_
