#include "server/documents/long_sentences.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace attend {
namespace {

// Marks that end a clause, with the white space that makes them ends: a comma
// inside of a number is none. Those of Chinese and Japanese need no space.
constexpr absl::string_view kClauseEnds[] = {", ",
                                             "; ",
                                             ": ",
                                             ") ",
                                             " \xe2\x80\x93",
                                             " \xe2\x80\x94",
                                             "\xe2\x80\x94",
                                             "\xef\xbc\x8c",
                                             "\xe3\x80\x81",
                                             "\xef\xbc\x9b",
                                             "\xef\xbc\x9a",
                                             "\xd8\x8c ",
                                             "\xe3\x80\x82"};

// The number of bytes of the mark at `at`; 0: there is none.
int ClauseEndAt(absl::string_view text, int at) {
  for (const absl::string_view end : kClauseEnds) {
    if (absl::StartsWith(text.substr(at), end)) {
      return static_cast<int>(end.size());
    }
  }
  return 0;
}

bool IsInsideOfCharacter(absl::string_view text, int at) {
  return (text[at] & 0xc0) == 0x80;
}

// The best place between begin and end at which to cut, by what is there.
int CutOf(absl::string_view text, TextRange range) {
  const int middle = range.begin + range.size() / 2;
  int clause = -1, word = -1, character = -1;
  const auto take = [&](int place, int& best) {
    if (place <= range.begin || place >= range.end) return;
    if (best < 0 || std::abs(place - middle) < std::abs(best - middle)) {
      best = place;
    }
  };
  for (int at = range.begin; at < range.end; ++at) {
    if (IsInsideOfCharacter(text, at)) continue;
    if (const int size = ClauseEndAt(text, at)) take(at + size, clause);
    if (absl::ascii_isspace(text[at])) take(at + 1, word);
    take(at, character);
  }
  // A clause at the very end would leave the rest as long as it was.
  const int least = range.size() / 8;
  if (clause >= range.begin + least && clause <= range.end - least) {
    return clause;
  }
  return word >= 0 ? word : character;
}

}  // namespace

std::vector<TextRange> CutToFit(
    absl::string_view text, TextRange sentence,
    const std::function<bool(absl::string_view)>& fits) {
  std::vector<TextRange> parts;
  std::vector<TextRange> left = {sentence};  // the next one last
  while (!left.empty()) {
    const TextRange range = Trim(text, left.back());
    left.pop_back();
    if (range.size() == 0) continue;
    const int cut =
        fits(text.substr(range.begin, range.size())) ? -1 : CutOf(text, range);
    if (cut < 0) {
      parts.push_back(range);
      continue;
    }
    left.push_back({cut, range.end});
    left.push_back({range.begin, cut});
  }
  return parts;
}

}  // namespace attend
