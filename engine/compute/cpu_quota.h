#ifndef ATTEND_ENGINE_COMPUTE_CPU_QUOTA_H_
#define ATTEND_ENGINE_COMPUTE_CPU_QUOTA_H_

#include <optional>
#include <string>

namespace attend {

// The CPU time, in CPUs, that the cgroups of this process grant: the smallest
// limit of its own group and those above it (version 2: cpu.max; version 1:
// cpu.cfs_quota_us / cpu.cfs_period_us). nullopt if there is no limit. `root`:
// the directory that has /proc and /sys.
std::optional<double> CgroupCpuLimit(const std::string& root = "/");

// The number of CPUs that this process may keep busy: the smaller of the CPUs
// that it may be scheduled on and its cgroup's limit (rounded down). At
// least 1.
int CpuQuota();

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_CPU_QUOTA_H_
