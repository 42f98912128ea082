#include "engine/api/thought.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace attend {

namespace {

// The bytes with which `mark` begins at the end of a text that ends with its
// first `matched` bytes, and then with `c`.
size_t Matched(absl::string_view mark, size_t matched, char c) {
  while (mark[matched] != c) {
    if (matched == 0) return 0;
    // The longest end of what matched with which the mark begins, too.
    const absl::string_view text = mark.substr(0, matched--);
    while (!absl::EndsWith(text, mark.substr(0, matched))) --matched;
  }
  return matched + 1;
}

}  // namespace

void ThoughtReader::Read(char c) {
  if (place_ == Place::kAnswer) return;
  const bool inside = place_ == Place::kInside;
  const std::string& mark = this->mark();
  if (!inside && matched_ == 0 && absl::ascii_isspace(c)) return;
  if (!inside && c != mark[matched_]) {
    matched_ = 0;
    place_ = Place::kAnswer;
    return;
  }
  matched_ = Matched(mark, matched_, c);
  if (matched_ < mark.size()) return;
  matched_ = 0;
  ended_ = inside;
  place_ = inside ? Place::kAnswer : Place::kInside;
}

absl::string_view ThoughtReader::Spelling(int id) const {
  if (place_ == Place::kAnswer) return "";
  for (const Thought::Special& special : thought_->specials) {
    if (special.id == id && absl::StrContains(mark(), special.spelling)) {
      return special.spelling;
    }
  }
  return "";
}

}  // namespace attend
