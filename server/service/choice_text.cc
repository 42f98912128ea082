#include "server/service/choice_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using Place = ThoughtReader::Place;

// The length, in bytes, of the longest end of `text` with which `stop` begins.
size_t Overlap(absl::string_view text, absl::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (absl::EndsWith(text, stop.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

const Thought& ChoiceText::NoThought() {
  static const Thought& none = *new Thought;
  return none;
}

std::string ChoiceText::Append(int id) {
  std::string text = decoder_->Append(id);
  // A decoder that joins no token texts may return earlier text later.
  if (!stop_strings_.empty() && reader_.place() == Place::kAnswer &&
      tokenizer_.joins_token_texts() && tokenizer_.TokenText(id).empty() &&
      tokenizer_.IsSpecial(id, Side::kTarget)) {
    special_.push_back(
        {.at = held_.size() + text.size(),
         .spelling = std::string(tokenizer_.Piece(id, Side::kTarget))});
  }
  absl::StrAppend(&text, reader_.Spelling(id));
  return Release(text, /*last=*/false);
}

std::string ChoiceText::Release(absl::string_view text, bool last) {
  if (stopped_) return "";
  size_t read = 0;
  while (read < text.size() && reader_.place() != Place::kAnswer) {
    reader_.Read(text[read++]);
  }
  absl::StrAppend(&unsearched_, text.substr(0, read));
  text.remove_prefix(read);
  if (reader_.place() == Place::kUndecided && !last) return "";
  if (reader_.place() == Place::kInside) return std::exchange(unsearched_, "");
  std::string before = std::exchange(unsearched_, "");
  if (reader_.ended()) return before + ReleaseAnswer(text, last);
  return ReleaseAnswer(before + std::string(text), last);
}

std::string ChoiceText::ReleaseAnswer(absl::string_view text, bool last) {
  std::string out = std::exchange(held_, "");
  absl::StrAppend(&out, text);
  const Match plain = Find(out);
  const Match spelled = special_.empty() ? plain : FindSpelled(out);
  const size_t first = std::min(plain.first, spelled.first);
  if (first != std::string::npos) {
    stopped_ = true;
    out.resize(first);
    return out;
  }
  if (last) return out;
  const size_t released = out.size() - std::max(plain.held, spelled.held);
  held_ = out.substr(released);
  out.resize(released);
  for (Special& special : special_) special.at -= released;
  return out;
}

ChoiceText::Match ChoiceText::Find(absl::string_view text) const {
  Match match;
  for (const std::string& stop : stop_strings_) {
    match.first = std::min(match.first, text.find(stop));
    match.held = std::max(match.held, Overlap(text, stop));
  }
  return match;
}

ChoiceText::Match ChoiceText::FindSpelled(absl::string_view text) {
  std::string spelled;
  std::vector<size_t> offsets;  // in `text`, of each byte of `spelled`
  std::vector<size_t> ends;     // in `spelled`, of each special token
  size_t end = 0;
  const auto add_text = [&](size_t to) {
    absl::StrAppend(&spelled, text.substr(end, to - end));
    for (; end < to; ++end) offsets.push_back(end);
  };
  for (const Special& special : special_) {
    add_text(special.at);
    absl::StrAppend(&spelled, special.spelling);
    offsets.resize(spelled.size(), special.at);
    ends.push_back(spelled.size());
  }
  add_text(text.size());
  Match match = Find(spelled);
  if (match.first != std::string::npos) match.first = offsets[match.first];
  const size_t kept = spelled.size() - match.held;  // the first byte held
  const auto settled = std::upper_bound(ends.begin(), ends.end(), kept);
  special_.erase(special_.begin(), special_.begin() + (settled - ends.begin()));
  if (match.held > 0) match.held = text.size() - offsets[kept];
  return match;
}

}  // namespace attend
