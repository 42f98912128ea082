#include "server/service/choice_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// The length, in bytes, of the longest end of `text` with which `stop` begins.
size_t Overlap(absl::string_view text, absl::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (absl::EndsWith(text, stop.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

std::string ChoiceText::Release(absl::string_view text, bool last) {
  if (stopped_) return "";
  std::string out = std::exchange(held_, "");
  absl::StrAppend(&out, text);
  size_t first = std::string::npos;
  size_t held = 0;
  for (const std::string& stop : stop_strings_) {
    first = std::min(first, out.find(stop));
    held = std::max(held, Overlap(out, stop));
  }
  if (first != std::string::npos) {
    stopped_ = true;
    out.resize(first);
    return out;
  }
  if (last) return out;
  held_ = out.substr(out.size() - held);
  out.resize(out.size() - held);
  return out;
}

}  // namespace attend
