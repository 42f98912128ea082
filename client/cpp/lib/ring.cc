#include "client/cpp/lib/ring.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

constexpr size_t kPoints = 1024;  // of all servers together, at least

uint64_t HashOf(const std::string& text) {
  return XXH64(text.data(), text.size(), /*seed=*/0);
}

}  // namespace

Ring::Ring(const std::vector<std::string>& servers) {
  for (size_t server = 0; server < servers.size(); ++server) {
    const size_t each = (kPoints + servers.size() - 1) / servers.size();
    for (size_t i = 0; i < each; ++i) {
      points_.push_back(
          {HashOf(absl::StrCat(servers[server], "_", i)), server});
    }
  }
  std::sort(points_.begin(), points_.end(),
            [](const Point& a, const Point& b) { return a.hash < b.hash; });
}

size_t Ring::Find(const std::string& key,
                  absl::FunctionRef<bool(size_t server)> good) const {
  const auto from = std::lower_bound(
      points_.begin(), points_.end(), HashOf(key),
      [](const Point& point, uint64_t hash) { return point.hash < hash; });
  const size_t begin = from - points_.begin();
  for (size_t i = 0; i < points_.size(); ++i) {
    const size_t server = points_[(begin + i) % points_.size()].server;
    if (good(server)) return server;
  }
  return points_[begin % points_.size()].server;
}

}  // namespace attend
