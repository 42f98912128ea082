#ifndef ATTEND_ENGINE_COMPUTE_CPU_QUOTA_H_
#define ATTEND_ENGINE_COMPUTE_CPU_QUOTA_H_

#include <optional>
#include <string>

namespace attend {

// The CPU time, in CPUs, that the cgroups of this process grant: the smallest
// limit of its own group and those above it (version 2: cpu.max; version 1:
// cpu.cfs_quota_us / cpu.cfs_period_us). Nothing if there is no limit. `root`
// is where the file system with /proc and /sys begins.
std::optional<double> CgroupCpuLimit(const std::string& root = "/");

// CPUs that this process may keep busy: those it may be scheduled on, or its
// cgroup's limit rounded down where that is less; at least 1.
int CpuQuota();

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_CPU_QUOTA_H_
