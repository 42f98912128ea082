#include "server/documents/long_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "server/documents/literals.h"
#include "server/documents/literals_text.h"

namespace attend {
namespace {

// Marks inside of data and of keys.
constexpr absl::string_view kJoining = "+/=-_.%~";
// Joining marks that rules and leaders repeat: "Chapter 1 ....... 12".
constexpr absl::string_view kLeaders = "=-_.~";
constexpr int kMostLeaders = 4;

// Collects the runs of characters that have a property, one character after the
// other, and keeps the long ones.
class RunCollector {
 public:
  explicit RunCollector(std::vector<TextRange>& found) : found_(found) {}

  // The next character, of bytes [at, at + bytes), counts `size`.
  void Add(int at, int bytes, int size) {
    if (size_ == 0) begin_ = at;
    end_ = at + bytes;
    size_ += size;
  }
  // A character without the property, or the end of the text.
  void End(int longest) {
    if (size_ > longest) found_.push_back({begin_, end_});
    size_ = 0;
  }

 private:
  std::vector<TextRange>& found_;
  int begin_ = 0, end_ = 0;
  int size_ = 0;
};

bool IsSpacedWord(UChar32 c) {
  return IsWordChar(c) && !IsUnspaced(c) && c != '_';
}

// Finds the runs of the first and of the last kind in `word`, which has no
// white space of ASCII.
void FindRuns(absl::string_view word, std::vector<TextRange>& found) {
  std::vector<TextRange> unspaced;
  RunCollector words(found), all(unspaced);
  int leaders = 0;
  char last = 0;
  for (size_t at = 0; at < word.size();) {
    const FirstChar next = First(word.substr(at));
    const int begin = static_cast<int>(at);
    const int bytes = static_cast<int>(next.bytes);
    const char c = next.c < 0x80 ? static_cast<char>(next.c) : '\0';
    leaders = c == last && absl::StrContains(kLeaders, c) ? leaders + 1 : 0;
    last = c;
    const bool joins = c != 0 && absl::StrContains(kJoining, c);
    if (IsSpacedWord(next.c) || (joins && leaders < kMostLeaders)) {
      words.Add(begin, bytes, 1);
    } else {
      words.End(kLongestWord);
    }
    if (c != 0 || IsSpacedWord(next.c)) {
      all.Add(begin, bytes, bytes);
    } else {
      all.End(kLongestUnspaced);
    }
    at += next.bytes;
  }
  words.End(kLongestWord);
  all.End(kLongestUnspaced);
  found.insert(found.end(), unspaced.begin(), unspaced.end());
}

void FindLongLiterals(absl::string_view word, std::vector<TextRange>& found) {
  for (const Literal& literal : FindLiterals(word)) {
    if (!literal.readable && literal.range.size() > kLongestWord) {
      found.push_back(literal.range);
    }
  }
}

// Ranges that overlap become one.
std::vector<TextRange> Joined(std::vector<TextRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](TextRange a, TextRange b) { return a.begin < b.begin; });
  std::vector<TextRange> joined;
  for (const TextRange range : ranges) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

// A mark at the end of a run may be that of the sentence.
TextRange WithoutEndMarks(absl::string_view text, TextRange range) {
  while (range.size() > 0 && absl::StrContains(".,;:!?", text[range.end - 1])) {
    --range.end;
  }
  return range;
}

}  // namespace

std::vector<TextRange> FindLongWords(absl::string_view text) {
  std::vector<TextRange> found;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && !absl::ascii_isspace(text[end])) ++end;
    if (end - begin > size_t{kLongestWord}) {
      const absl::string_view word = text.substr(begin, end - begin);
      std::vector<TextRange> ranges;
      FindRuns(word, ranges);
      FindLongLiterals(word, ranges);
      for (const TextRange range : Joined(std::move(ranges))) {
        const TextRange kept = WithoutEndMarks(word, range);
        const int offset = static_cast<int>(begin);
        found.push_back({offset + kept.begin, offset + kept.end});
      }
    }
    begin = end + 1;
  }
  return found;
}

}  // namespace attend
