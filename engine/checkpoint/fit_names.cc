#include "engine/checkpoint/fit_names.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "engine/checkpoint/name_pattern.h"

namespace attend {
namespace {

constexpr int kMaxParts = 4;

// Number of names that the table reads once their first `prefix` bytes are
// gone.
size_t CountRead(const NameTable& table, const std::vector<std::string>& names,
                 size_t prefix) {
  const auto reads = [&](absl::string_view name) {
    return std::any_of(
        table.rows.begin(), table.rows.end(), [&](const NameRow& row) {
          return std::any_of(row.tensors.begin(), row.tensors.end(),
                             [&](const std::string& pattern) {
                               return MatchPattern(pattern, name).has_value();
                             });
        });
  };
  return static_cast<size_t>(
      std::count_if(names.begin(), names.end(), [&](const std::string& name) {
        return reads(absl::string_view(name).substr(prefix));
      }));
}

}  // namespace

void FitNames(const NameTable& names, Checkpoint& checkpoint) {
  std::vector<std::string> stored = checkpoint.Names();
  std::erase_if(stored, [](const std::string& name) {
    return absl::StrContains(name, '/');
  });
  if (stored.empty()) return;
  const absl::string_view first = stored.front();
  size_t best = 0;
  size_t most = 0;
  size_t prefix = 0;
  for (int part = 0; part <= kMaxParts; ++part) {
    const bool common =
        std::all_of(stored.begin(), stored.end(), [&](const std::string& name) {
          return absl::StartsWith(name, first.substr(0, prefix));
        });
    if (!common) break;
    // Most names have no common part: nothing is counted for them.
    const size_t dot = first.find('.', prefix);
    if (part > 0) {
      const size_t read = CountRead(names, stored, prefix);
      if (part == 1) most = CountRead(names, stored, 0);
      if (read > most) {
        most = read;
        best = prefix;
      }
    }
    if (dot == absl::string_view::npos) break;
    prefix = dot + 1;
  }
  if (best > 0) checkpoint.StripPrefix(std::string(first.substr(0, best)));
}

}  // namespace attend
