#include "engine/compute/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

// A cgroup hierarchy as this process sees it.
struct Group {
  std::string mount;  // directory of the hierarchy
  std::string path;   // of the process's group below it, "/a/b"
  bool v2 = false;
};

// The first line of a file, empty if it cannot be read.
std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

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

std::optional<double> LimitOf(const std::string& directory, bool v2) {
  if (!v2) {
    return Ratio(ReadLine(directory + "/cpu.cfs_quota_us"),
                 ReadLine(directory + "/cpu.cfs_period_us"));
  }
  const std::string line = ReadLine(directory + "/cpu.max");
  const std::vector<absl::string_view> fields =
      absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (fields.size() != 2) return std::nullopt;
  return Ratio(fields[0], fields[1]);
}

// Lines of /proc/self/cgroup are "id:controllers:path"; version 2 has no
// controllers.
std::vector<Group> GroupsOf(const std::string& root) {
  const std::string mount = absl::StrCat(root, "/sys/fs/cgroup");
  std::vector<Group> groups;
  std::ifstream file(absl::StrCat(root, "/proc/self/cgroup"));
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    if (fields[1].empty()) {
      groups.push_back({mount, fields[2], /*v2=*/true});
      groups.push_back({mount + "/unified", fields[2], /*v2=*/true});
      continue;
    }
    for (absl::string_view controller : absl::StrSplit(fields[1], ',')) {
      if (controller != "cpu") continue;
      groups.push_back({absl::StrCat(mount, "/", fields[1]), fields[2], false});
      groups.push_back({mount + "/cpu", fields[2], false});
    }
  }
  return groups;
}

}  // namespace

std::optional<double> CgroupCpuLimit(const std::string& root) {
  std::optional<double> limit;
  for (const Group& group : GroupsOf(root)) {
    // In a container the path may be the host's and not exist here; then the
    // container's own group is the root of the mount, where the walk ends.
    std::string path = absl::StartsWith(group.path, "/..") ? "" : group.path;
    while (true) {
      const std::optional<double> own = LimitOf(group.mount + path, group.v2);
      if (own) limit = std::min(limit.value_or(*own), *own);
      const size_t slash = path.rfind('/');
      if (slash == std::string::npos) break;
      path.resize(slash);
    }
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
