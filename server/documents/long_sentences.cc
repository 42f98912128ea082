#include "server/documents/long_sentences.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "server/documents/literals.h"

namespace attend {
namespace {

// Marks that end a clause, with the white space that makes them ends: a comma
// inside of a number is none. Those of Chinese, Japanese, Burmese, Ethiopic,
// Khmer and Tibetan need no space.
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
                                             "\xe3\x80\x82",
                                             "\xef\xbd\xa4",
                                             "\xd8\x9b ",
                                             "\xe1\x81\x8a",
                                             "\xe1\x81\x8b",
                                             "\xe1\x8d\xa3",
                                             "\xe1\x8d\xa4",
                                             "\xe1\x9f\x94",
                                             "\xe1\x9f\x96",
                                             "\xe0\xbc\x8d"};

constexpr double kUnknown = std::numeric_limits<double>::infinity();
// A part of a text that was measured is estimated to have its share. Above this
// estimate it is cut without being measured. (Where most tokens are in one half
// of a text, parts of the other may so be shorter than they need be.)
constexpr double kMaybe = 2;

// By the first byte of a mark: most bytes begin none.
constexpr std::array<bool, 256> kBeginsClauseEnd = [] {
  std::array<bool, 256> begins = {};
  for (const absl::string_view end : kClauseEnds) {
    begins[static_cast<unsigned char>(end[0])] = true;
  }
  return begins;
}();

// The number of bytes of the mark at `at`; 0: there is none.
int ClauseEndAt(absl::string_view text, int at) {
  if (!kBeginsClauseEnd[static_cast<unsigned char>(text[at])]) return 0;
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

// The number of bytes of the space at `at` at which a line may be broken; 0:
// there is none.
int SpaceAt(absl::string_view text, int at) {
  if (absl::ascii_isspace(text[at])) return 1;
  return absl::StartsWith(text.substr(at), "\xe3\x80\x80") ? 3 : 0;
}

// The literal of those in order that has byte `at` and the one before it; null:
// none has.
const TextRange* LiteralAt(const std::vector<TextRange>& literals, int at) {
  const auto found = std::partition_point(
      literals.begin(), literals.end(),
      [&](TextRange literal) { return literal.end <= at; });
  return found != literals.end() && found->begin < at ? &*found : nullptr;
}

// A break of the text near the middle of a range, or the end of the literal
// that has it; -1: there is none inside of the range.
int BreakOf(absl::string_view text, TextRange range, BreakKind kind,
            const std::vector<TextRange>& literals) {
  const absl::string_view all = text.substr(range.begin, range.size());
  const int near = NearestBreak(all, range.size() / 2, kind);
  if (near < 0) return -1;
  const TextRange* const literal = LiteralAt(literals, range.begin + near);
  if (literal == nullptr) return range.begin + near;
  if (literal->end < range.end) return literal->end;
  return literal->begin > range.begin ? literal->begin : -1;
}

// The best place between begin and end at which to cut, by what is there; -1:
// there is one character, or one literal.
int CutOf(absl::string_view text, TextRange range,
          const std::vector<TextRange>& literals) {
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
    if (const TextRange* const literal = LiteralAt(literals, at)) {
      at = std::min(literal->end, range.end) - 1;
      continue;
    }
    if (const int size = ClauseEndAt(text, at)) take(at + size, clause);
    if (const int size = SpaceAt(text, at)) take(at + size, word);
    take(at, character);
  }
  // A clause at the very end would leave the rest as long as it was.
  const int least = range.size() / 8;
  if (clause >= range.begin + least && clause <= range.end - least) {
    return clause;
  }
  if (word >= 0) return word;
  for (const BreakKind kind : {BreakKind::kWord, BreakKind::kCharacter}) {
    const int near = BreakOf(text, range, kind, literals);
    if (near >= 0) return near;
  }
  return character;
}

}  // namespace

SentenceCutter::SentenceCutter(absl::string_view text, TextRange sentence,
                               const MeasureText& measure)
    : text_(text),
      sentence_(sentence),
      measure_(measure),
      left_({{sentence, kUnknown}}) {}

std::optional<TextRange> SentenceCutter::Next() {
  while (!left_.empty()) {
    const TextRange range = Trim(text_, left_.back().range);
    double measure = left_.back().measure;
    left_.pop_back();
    if (range.size() == 0) continue;
    // To measure takes long, and halves of what is far too long are too long.
    if (measure <= kMaybe || measure == kUnknown) {
      measure = measure_(text_.substr(range.begin, range.size()));
    }
    if (measure <= 1) return range;
    if (!literals_) FindLiteralsOfSentence();
    const int cut = CutOf(text_, range, *literals_);
    if (cut < 0) return range;
    const double each = measure / range.size();
    left_.push_back({{cut, range.end}, each * (range.end - cut)});
    left_.push_back({{range.begin, cut}, each * (cut - range.begin)});
  }
  return std::nullopt;
}

void SentenceCutter::FindLiteralsOfSentence() {
  literals_.emplace();
  for (const Literal& literal :
       FindLiterals(text_.substr(sentence_.begin, sentence_.size()))) {
    literals_->push_back({sentence_.begin + literal.range.begin,
                          sentence_.begin + literal.range.end});
  }
}

}  // namespace attend
