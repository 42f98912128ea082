#include "engine/compute/cgroups.h"

#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

// The group at `path` of a hierarchy that is mounted at `mount`, and those
// above it.
void AddWithParents(const std::string& mount, absl::string_view path, bool v2,
                    std::vector<Cgroup>& groups) {
  // In a container the path may be that of the host, which does not exist
  // here. Then the container's own group is the root of the mount, where this
  // loop ends.
  if (absl::StartsWith(path, "/..")) path = "";
  while (true) {
    groups.push_back({.directory = absl::StrCat(mount, path),
                      .name = path.empty() ? "/" : std::string(path),
                      .v2 = v2});
    const size_t slash = path.rfind('/');
    if (slash == absl::string_view::npos) return;
    path = path.substr(0, slash);
  }
}

}  // namespace

// Lines of /proc/self/cgroup are "id:controllers:path"; version 2 has no
// controllers.
std::vector<Cgroup> CgroupsOf(absl::string_view controller,
                              const std::string& root) {
  const std::string mount = absl::StrCat(root, "/sys/fs/cgroup");
  std::vector<Cgroup> groups;
  std::ifstream file(absl::StrCat(root, "/proc/self/cgroup"));
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    if (fields[1].empty()) {
      AddWithParents(mount, fields[2], true, groups);
      AddWithParents(mount + "/unified", fields[2], true, groups);
      continue;
    }
    for (absl::string_view name : absl::StrSplit(fields[1], ',')) {
      if (name != controller) continue;
      AddWithParents(absl::StrCat(mount, "/", fields[1]), fields[2], false,
                     groups);
      AddWithParents(absl::StrCat(mount, "/", name), fields[2], false, groups);
    }
  }
  return groups;
}

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace attend
