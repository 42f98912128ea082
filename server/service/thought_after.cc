#include "server/service/thought_after.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "engine/tokenizer/chat/thought_marks.h"

namespace attend {
namespace {

// A template need not show what the model thought.
ThoughtMarks MarksOf(const ChatTemplate& chat, const Tokenizer& tokenizer) {
  ThoughtMarks shown = chat.thought_marks();
  if (!shown.end.empty()) return shown;
  for (const ThoughtMarks& marks : KnownThoughtMarks()) {
    if (tokenizer.TokenId(marks.begin, Side::kTarget) >= 0 &&
        tokenizer.TokenId(marks.end, Side::kTarget) >= 0) {
      return marks;
    }
  }
  return {};
}

// Adds the special tokens in a mark.
void AddSpecials(absl::string_view mark, const Tokenizer& tokenizer,
                 std::vector<Thought::Special>& to) {
  while (!mark.empty()) {
    size_t taken = 1;
    for (size_t n = mark.size(); n > 0; --n) {
      const absl::string_view spelling = mark.substr(0, n);
      const int id = tokenizer.TokenId(spelling, Side::kTarget);
      if (id < 0 || !tokenizer.TokenText(id).empty()) continue;
      to.push_back({.id = id, .spelling = std::string(spelling)});
      taken = n;
      break;
    }
    mark.remove_prefix(taken);
  }
}

}  // namespace

Thought ThoughtAfter(absl::string_view prompt, const ChatTemplate& chat,
                     const Tokenizer& tokenizer) {
  ThoughtMarks marks = MarksOf(chat, tokenizer);
  prompt = absl::StripTrailingAsciiWhitespace(prompt);
  if (marks.end.empty() || absl::EndsWith(prompt, marks.end)) return {};
  Thought thought = {.begin = std::move(marks.begin),
                     .end = std::move(marks.end)};
  thought.open = absl::EndsWith(prompt, thought.begin);
  AddSpecials(thought.begin, tokenizer, thought.specials);
  AddSpecials(thought.end, tokenizer, thought.specials);
  // Without texts of single tokens, a special token has no place in the text.
  if (!thought.specials.empty() && !tokenizer.joins_token_texts()) return {};
  return thought;
}

}  // namespace attend
