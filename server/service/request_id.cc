#include "server/service/request_id.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

bool IsAllowed(char c) {
  return absl::ascii_isalnum(c) || absl::StrContains("._:/@+=-", c);
}

// A random number of this process, then a count: unique over processes and
// restarts.
std::string NewRequestId() {
  static const uint64_t process = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  static std::atomic<uint64_t> count{0};
  // StrFormat would end the process where it gets no memory.
  return absl::StrCat(absl::Hex(process, absl::kZeroPad16), "-",
                      absl::Hex(count.fetch_add(1, std::memory_order_relaxed)));
}

}  // namespace

std::string ChooseRequestId(absl::string_view wanted) {
  if (wanted.empty() || wanted.size() > kMaxRequestIdBytes ||
      !std::all_of(wanted.begin(), wanted.end(), IsAllowed)) {
    return NewRequestId();
  }
  return std::string(wanted);
}

}  // namespace attend
