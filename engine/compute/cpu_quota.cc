#include "engine/compute/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "engine/compute/cgroups.h"

namespace attend {
namespace {

std::optional<double> Ratio(absl::string_view quota, absl::string_view period) {
  double q = 0;
  double p = 0;
  // "max" (version 2) and -1 (version 1) stand for no limit.
  if (!absl::SimpleAtod(quota, &q) || !absl::SimpleAtod(period, &p) ||
      !(q > 0) || !(p > 0)) {
    return std::nullopt;
  }
  return q / p;
}

std::optional<double> LimitOf(const Cgroup& group) {
  if (!group.v2) {
    return Ratio(ReadLine(group.directory + "/cpu.cfs_quota_us"),
                 ReadLine(group.directory + "/cpu.cfs_period_us"));
  }
  const std::string line = ReadLine(group.directory + "/cpu.max");
  const std::vector<absl::string_view> fields =
      absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (fields.size() != 2) return std::nullopt;
  return Ratio(fields[0], fields[1]);
}

}  // namespace

std::optional<double> CgroupCpuLimit(const std::string& root) {
  std::optional<double> limit;
  for (const Cgroup& group : CgroupsOf("cpu", root)) {
    const std::optional<double> own = LimitOf(group);
    if (own) limit = std::min(limit.value_or(*own), *own);
  }
  return limit;
}

int CpuQuota() {
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof(set), &set) == 0
                 ? CPU_COUNT(&set)
                 // More CPUs than the set has room for.
                 : static_cast<int>(std::thread::hardware_concurrency());
  if (const std::optional<double> limit = CgroupCpuLimit()) {
    cpus = static_cast<int>(std::min<double>(cpus, *limit));
  }
  return std::max(cpus, 1);
}

}  // namespace attend
