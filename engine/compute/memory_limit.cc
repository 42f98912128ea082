#include "engine/compute/memory_limit.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <fstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "engine/compute/cgroups.h"

namespace attend {
namespace {

// The sum, or the largest number if the sum would be larger.
uint64_t Sum(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// Reads a line "MemTotal:  24000000 kB" of /proc/meminfo or /proc/self/status;
// 0 if there is none.
uint64_t ReadKilobytes(const std::string& path, absl::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    uint64_t value = 0;
    if (words.size() == 3 && words[0] == name &&
        absl::SimpleAtoi(words[1], &value)) {
      return value * 1024;
    }
  }
  return 0;
}

// "max" (version 2) is no number.
void Lower(uint64_t bytes, std::string source, MemoryLimit& limit) {
  if (bytes == 0 || bytes >= limit.bytes) return;
  limit.bytes = bytes;
  limit.source = std::move(source);
}

}  // namespace

MemoryLimit FindMemoryLimit(const std::string& root) {
  MemoryLimit limit;
  limit.used = ReadKilobytes(root + "/proc/self/status", "RssAnon");
  Lower(ReadKilobytes(root + "/proc/meminfo", "MemTotal"),
        "memory of the machine", limit);
  for (const Cgroup& group : CgroupsOf("memory", root)) {
    const char* const file = group.v2 ? "memory.max" : "memory.limit_in_bytes";
    uint64_t bytes = 0;
    if (absl::SimpleAtoi(ReadLine(absl::StrCat(group.directory, "/", file)),
                         &bytes)) {
      Lower(bytes, absl::StrCat("cgroup ", group.name, ": ", file), limit);
    }
  }
  return limit;
}

absl::Status CheckMemory(const std::vector<MemoryNeed>& needs,
                         const MemoryLimit& limit) {
  uint64_t sum = 0;
  for (const MemoryNeed& need : needs) sum = Sum(sum, need.bytes);
  if (Sum(sum, limit.used) <= limit.bytes) return absl::OkStatus();
  const std::string list =
      absl::StrJoin(needs, ", ", [](std::string* out, const MemoryNeed& need) {
        absl::StrAppend(out, need.what, " of ", BytesText(need.bytes));
      });
  return absl::ResourceExhaustedError(absl::StrCat(
      list, ": together ", BytesText(sum), ", more than the ",
      BytesText(limit.bytes), " that this process may use (", limit.source,
      "), of which it has ", BytesText(limit.used), " already"));
}

absl::Status CheckAddressSpace(const std::string& what, uint64_t bytes) {
  void* const probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe != MAP_FAILED) {
    munmap(probe, bytes);
    return absl::OkStatus();
  }
  rlimit limit = {};
  const bool limited =
      getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return absl::ResourceExhaustedError(absl::StrCat(
      what, ": ", BytesText(bytes),
      " more of address space is needed, which the system refuses (",
      limited ? absl::StrCat("ulimit -v is ", BytesText(limit.rlim_cur))
              : "see ulimit -d and vm.overcommit_memory",
      ")"));
}

std::string BytesText(uint64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " bytes");
  for (const auto& [unit, shift] : {std::pair("GiB", 30), {"MiB", 20}}) {
    if (bytes >= uint64_t{1} << shift) {
      return absl::StrFormat("%.1f %s", bytes / double(uint64_t{1} << shift),
                             unit);
    }
  }
  return absl::StrFormat("%.1f KiB", bytes / 1024.0);
}

}  // namespace attend
