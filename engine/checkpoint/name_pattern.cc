#include "engine/checkpoint/name_pattern.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

constexpr absl::string_view kLayer = "{}";

}  // namespace

std::optional<std::string> MatchPattern(absl::string_view pattern,
                                        absl::string_view name) {
  const size_t at = pattern.find(kLayer);
  if (at == absl::string_view::npos) {
    if (pattern == name) return "";
    return std::nullopt;
  }
  if (!absl::ConsumePrefix(&name, pattern.substr(0, at)) ||
      !absl::ConsumeSuffix(&name, pattern.substr(at + kLayer.size())) ||
      name.empty() ||
      !std::all_of(name.begin(), name.end(), absl::ascii_isdigit)) {
    return std::nullopt;
  }
  return std::string(name);
}

std::string FillPattern(absl::string_view pattern, absl::string_view layer) {
  return absl::StrReplaceAll(pattern, {{kLayer, layer}});
}

bool MatchesStar(absl::string_view pattern, absl::string_view name) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) return pattern == name;
  return absl::ConsumePrefix(&name, pattern.substr(0, star)) &&
         absl::EndsWith(name, pattern.substr(star + 1));
}

}  // namespace attend
