#include "engine/decoding/stopping.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace attend {

std::vector<int> EndIds(const GenerationParams& params) {
  std::vector<int> ids;
  for (const std::vector<int>* list : {&params.eos_ids, &params.stop_ids}) {
    for (int id : *list) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
  }
  return ids;
}

Stopping::Stopping(const SearchInput& input)
    : end_ids_(EndIds(input.params)),
      stop_strings_(input.params.stop_strings),
      thought_(input.params.thought),
      token_texts_(input.token_texts),
      prompt_len_(input.prompt.size()),
      max_new_tokens_(input.params.max_new_tokens) {
  if (stop_strings_.empty()) return;
  for (const std::string& stop : stop_strings_) {
    max_before_ = std::max(max_before_, stop.size() - 1);
  }
  text_.reserve(max_before_ +
                (token_texts_ == nullptr
                     ? 0
                     : std::max(token_texts_->plain.longest(),
                                token_texts_->special.longest())));
}

FinishReason Stopping::Check(absl::Span<const int> tokens, int next) {
  if (std::find(end_ids_.begin(), end_ids_.end(), next) != end_ids_.end()) {
    return FinishReason::kEos;
  }
  const absl::Span<const int> new_tokens = tokens.subspan(prompt_len_);
  if (!stop_strings_.empty() &&
      (CompletesStopString(new_tokens, next, /*spelled=*/false) ||
       CompletesStopString(new_tokens, next, /*spelled=*/true))) {
    return FinishReason::kStopSequence;
  }
  if (new_tokens.size() + 1 >= max_new_tokens_) return FinishReason::kMaxLength;
  return FinishReason::kNone;
}

bool Stopping::IsSpecial(int id) const {
  return token_texts_ != nullptr && id < token_texts_->special.size() &&
         !token_texts_->special[id].empty();
}

absl::string_view Stopping::Text(int id, bool spelled) const {
  if (IsSpecial(id)) {
    return spelled ? token_texts_->special[id] : absl::string_view();
  }
  if (token_texts_ == nullptr || id >= token_texts_->plain.size()) return {};
  return token_texts_->plain[id];
}

bool Stopping::CompletesStopString(absl::Span<const int> new_tokens, int next,
                                   bool spelled) {
  if (Text(next, spelled).empty()) return false;
  size_t first = new_tokens.size();
  size_t before = 0;
  bool any_special = IsSpecial(next);
  while (first > 0 && before < max_before_) {
    const int id = new_tokens[--first];
    before += Text(id, spelled).size();
    any_special |= IsSpecial(id);
  }
  if (spelled && !any_special) return false;  // both texts are the same
  text_.clear();
  for (int id : new_tokens.subspan(first)) {
    const absl::string_view text = Text(id, spelled);
    // Only the last max_before_ bytes before `next` can be in a match.
    const size_t skip = before > max_before_ ? before - max_before_ : 0;
    absl::StrAppend(&text_, text.substr(skip));
    before = std::min(before, max_before_);
  }
  const size_t old_size = text_.size();
  absl::StrAppend(&text_, Text(next, spelled));
  const auto found = [&](size_t begin) {
    return std::any_of(
        stop_strings_.begin(), stop_strings_.end(),
        [&](const std::string& stop) {
          // The earliest match that ends after the first `old_size` bytes.
          const size_t from =
              old_size >= stop.size() ? old_size - stop.size() + 1 : 0;
          return text_.find(stop, std::max(from, begin)) != std::string::npos;
        });
  };
  if (!found(0)) return false;
  if (!thought_.possible()) return true;
  // The whole text is read again only where a stop string may end it.
  size_t total = Text(next, spelled).size();
  for (int id : new_tokens) total += Text(id, spelled).size();
  const size_t thought = ThoughtBytes(new_tokens, next, spelled);
  const size_t before_text = total - text_.size();
  return thought < total &&
         found(thought > before_text ? thought - before_text : 0);
}

size_t Stopping::ThoughtBytes(absl::Span<const int> new_tokens, int next,
                              bool spelled) const {
  ThoughtReader reader(thought_);
  size_t bytes = 0;
  size_t answer = 0;
  // Returns true if there is no thought.
  const auto read = [&](int id) {
    const size_t special = IsSpecial(id) ? Text(id, spelled).size() : 0;
    bytes += special;
    const absl::string_view mark = reader.Spelling(id);
    for (const char c : mark.empty() ? Text(id, /*spelled=*/false) : mark) {
      reader.Read(c);
      bytes += mark.empty();
      if (reader.place() != ThoughtReader::Place::kAnswer || answer > 0) {
        continue;
      }
      if (!reader.ended()) return true;
      answer = bytes;
    }
    return false;
  };
  for (int id : new_tokens) {
    if (read(id)) return 0;
  }
  if (read(next)) return 0;
  return answer > 0 ? answer : bytes;
}

}  // namespace attend
