#ifndef ATTEND_ENGINE_COMPUTE_MEMORY_LIMIT_H_
#define ATTEND_ENGINE_COMPUTE_MEMORY_LIMIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace attend {

// The memory limit of this process and its origin.
struct MemoryLimit {
  uint64_t bytes = UINT64_MAX;
  std::string source;  // "cgroup /pod/box: memory.max"
  uint64_t used = 0;   // memory that the process already uses
};

// The smallest of these: the memory of the machine, and the limits of the
// process's own cgroup and of those above it (version 2: memory.max; version 1:
// memory.limit_in_bytes). A limit that cannot be read does not count. `root`:
// the directory that has /proc and /sys.
MemoryLimit FindMemoryLimit(const std::string& root = "/");

// A planned allocation.
struct MemoryNeed {
  std::string what;  // "the KV cache (kv_cache_bytes)"
  uint64_t bytes = 0;
};

// RESOURCE_EXHAUSTED, with all figures, if all needs together exceed what the
// limit leaves.
absl::Status CheckMemory(const std::vector<MemoryNeed>& needs,
                         const MemoryLimit& limit);

// RESOURCE_EXHAUSTED if the kernel refuses `bytes` of address space, for
// instance because of ulimit -v or strict overcommitment. Allocates nothing.
// `what` names the purpose of the memory in the error.
absl::Status CheckAddressSpace(const std::string& what, uint64_t bytes);

// "22.5 GiB", "16.0 MiB", "900 bytes"
std::string BytesText(uint64_t bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_MEMORY_LIMIT_H_
