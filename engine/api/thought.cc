#include "engine/api/thought.h"

#include "absl/strings/ascii.h"

namespace attend {

// The first byte of a mark occurs in it only once, so a byte that does not
// continue the mark can only begin it.
void ThoughtReader::Read(char c) {
  if (place_ == Place::kAnswer) return;
  const bool inside = place_ == Place::kInside;
  const std::string& mark = inside ? thought_->end : thought_->begin;
  if (!inside && matched_ == 0 && absl::ascii_isspace(c)) return;
  if (c == mark[matched_]) {
    if (++matched_ < mark.size()) return;
    matched_ = 0;
    ended_ = inside;
    place_ = inside ? Place::kAnswer : Place::kInside;
  } else if (inside) {
    matched_ = c == mark[0] ? 1 : 0;
  } else {
    matched_ = 0;
    place_ = Place::kAnswer;
  }
}

}  // namespace attend
