#include "command_line/did_you_mean.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// Returns the Damerau-Levenshtein distance.
size_t Distance(absl::string_view a, absl::string_view b) {
  // distance[i][j]: of the first i letters of `a` and the first j of `b`.
  std::vector<std::vector<size_t>> distance(a.size() + 1,
                                            std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& least = distance[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      least = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1,
                        distance[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least = std::min(least, distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

}  // namespace

std::string DidYouMean(absl::string_view word,
                       const std::vector<std::string>& known) {
  constexpr size_t kLongest = 64;  // a longer word is no typing error
  if (word.size() > kLongest) return "";
  size_t least = word.size() / 3 + 1;
  std::string nearest;
  for (const std::string& other : known) {
    const size_t distance = Distance(word, other);
    if (distance >= least) continue;
    least = distance;
    nearest = other;
  }
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

}  // namespace attend
