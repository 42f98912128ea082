#ifndef ATTEND_ENGINE_COMPUTE_CGROUPS_H_
#define ATTEND_ENGINE_COMPUTE_CGROUPS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// A directory whose limits hold for this process, if the directory exists.
struct Cgroup {
  std::string directory;
  std::string name;  // in its hierarchy: "/pod/box"
  bool v2 = false;   // version 2 of the cgroup interface; false: version 1
};

// The groups of this process that may have limits of `controller` ("cpu",
// "memory"), in both versions: the process's own groups, and all groups above
// them. `root`: the directory that has /proc and /sys.
std::vector<Cgroup> CgroupsOf(absl::string_view controller,
                              const std::string& root = "/");

// The first line of a file, empty if it cannot be read.
std::string ReadLine(const std::string& path);

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_CGROUPS_H_
