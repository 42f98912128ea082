#include "server/openai/thought_splitter.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ThoughtPlace = ThoughtReader::Place;

}  // namespace

ThoughtSplitter::Parts ThoughtSplitter::Append(absl::string_view text,
                                               bool last) {
  Parts parts;
  size_t i = 0;
  while (i < text.size() && reader_.place() != ThoughtPlace::kAnswer) {
    const ThoughtPlace before = reader_.place();
    const size_t matched = reader_.matched();
    held_ += text[i];
    reader_.Read(text[i++]);
    if (reader_.place() == before) continue;
    if (reader_.place() == ThoughtPlace::kInside) {
      held_.clear();  // the mark
    } else if (reader_.ended()) {
      absl::StrAppend(&parts.reasoning, TakeReasoning(matched + 1));
      held_.clear();
    }
  }
  if (reader_.place() == ThoughtPlace::kInside) {
    absl::StrAppend(&parts.reasoning,
                    TakeReasoning(last ? 0 : reader_.matched()));
    return parts;
  }
  if (reader_.place() == ThoughtPlace::kUndecided && !last) return parts;
  parts.answer = absl::StrCat(std::exchange(held_, ""), text.substr(i));
  if (reader_.ended() && !answers_) {
    parts.answer = std::string(absl::StripLeadingAsciiWhitespace(parts.answer));
  }
  answers_ |= !parts.answer.empty();
  return parts;
}

std::string ThoughtSplitter::TakeReasoning(size_t mark) {
  absl::string_view text(held_);
  text.remove_suffix(mark);
  text = absl::StripTrailingAsciiWhitespace(text);
  const size_t taken = text.size();
  if (!reasons_) text = absl::StripLeadingAsciiWhitespace(text);
  reasons_ |= !text.empty();
  std::string reasoning(text);
  held_.erase(0, taken);
  return reasoning;
}

}  // namespace attend
