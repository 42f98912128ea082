#include "server/documents/sentence_splitter.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "server/documents/abbreviations.h"
#include "server/documents/footnote_marks.h"
#include "server/documents/literals.h"

namespace attend {
namespace {

// Languages whose ordinal numbers end with a full stop.
constexpr absl::string_view kDottedOrdinals[] = {
    "bs", "cs", "da", "de", "et", "fi", "fo", "hr", "hu", "is",
    "lb", "lv", "nb", "nn", "no", "pl", "sk", "sl", "sr", "tr"};

// Marks at the end of direct speech.
constexpr absl::string_view kClosingQuotes[] = {
    "\"", "'", "\u201c", "\u201d", "\u2019", "\u00bb", "\u00ab", "\u300d"};

// Words before numbers, in several languages: "See p. 3."
constexpr absl::string_view kBeforeNumbers[] = {
    "p.",        "pp.",    "S.",      "s.",
    "ss.",       "str.",   "\u0441.", "\u0441\u0442\u0440.",
    "n.",        "no.",    "No.",     "nr.",
    "Nr.",       "vol.",   "Vol.",    "Bd.",
    "art.",      "Art.",   "cap.",    "Cap.",
    "Kap.",      "kap.",   "ch.",     "Ch.",
    "sec.",      "Sec.",   "fig.",    "Fig.",
    "Abb.",      "tab.",   "Tab.",    "eq.",
    "Eq.",       "v.",     "vv.",     "p\u00e1g.",
    "n\u00fam.", "\u00a7."};

// A text as the rules for sentences see it, byte for byte: without the marks of
// notes that follow a sentence, and with the marks that ICU may not know as
// others that it does.
std::string Prepared(absl::string_view text,
                     const std::vector<FootnoteMark>& marks,
                     const std::vector<Literal>& literals) {
  std::string prepared(text);
  size_t literal = 0;
  for (const FootnoteMark& mark : marks) {
    while (literal < literals.size() &&
           literals[literal].range.end <= mark.range.begin) {
      ++literal;
    }
    const bool in_literal = literal < literals.size() &&
                            literals[literal].range.begin < mark.range.end;
    if (!mark.after_sentence || in_literal) continue;
    std::fill_n(prepared.begin() + mark.range.begin, mark.range.size(), ' ');
  }
  for (char& c : prepared) {
    if (c == '\f' || c == '\v') c = '\n';
  }
  // The full stops of Khmer: as that of Chinese.
  absl::StrReplaceAll({{"\u17d4", "\u3002"}, {"\u17d5", "\u3002"}}, &prepared);
  return prepared;
}

// A mark with words that follows a sentence belongs to it.
void TakeMarks(const std::vector<FootnoteMark>& marks,
               std::vector<TextRange>& sentences) {
  size_t next = 0;
  for (TextRange& sentence : sentences) {
    while (next < marks.size() && marks[next].range.begin < sentence.end) {
      ++next;
    }
    for (int end = sentence.end;
         next < marks.size() && marks[next].range.begin == end; ++next) {
      end = marks[next].range.end;
      if (marks[next].has_words) sentence.end = end;
    }
  }
}

class Joining {
 public:
  Joining(absl::string_view text, absl::string_view language,
          std::vector<Literal> literals)
      : text_(text),
        language_(BaseLanguage(language)),
        literals_(std::move(literals)) {
    dotted_ordinals_ =
        std::find(std::begin(kDottedOrdinals), std::end(kDottedOrdinals),
                  language_) != std::end(kDottedOrdinals);
  }

  // Whether `before` goes on with the sentence `after`, which follows it.
  // Called for one sentence after the other.
  bool GoesOn(TextRange before, TextRange after) {
    if (InLiteral(before.end, after.begin)) return true;
    if (HasLineBreak(Slice({before.end, after.begin}))) return false;
    if (EndsWithSpeech(before, after) || EndsWithOrdinal(before) ||
        EndsBeforeNumber(before, after)) {
      return true;
    }
    const bool initials = EndsWithInitials(before);
    if ((initials || MayEndSentence(Slice(before))) &&
        BeginsSentence(Slice(after), language_)) {
      return false;
    }
    return initials || EndsWithAbbreviation(Slice(before), language_);
  }

 private:
  absl::string_view Slice(TextRange range) const {
    return text_.substr(range.begin, range.size());
  }
  bool InLiteral(int end, int begin) {
    while (literal_ < literals_.size() &&
           literals_[literal_].range.end <= end) {
      ++literal_;
    }
    return literal_ < literals_.size() &&
           literals_[literal_].range.begin < end &&
           literals_[literal_].range.end >= begin;
  }
  bool EndsWithSpeech(TextRange before, TextRange after) const {
    const absl::string_view said = Slice(before);
    return BeginsLower(Slice(after)) &&
           std::any_of(std::begin(kClosingQuotes), std::end(kClosingQuotes),
                       [&](absl::string_view quote) {
                         return absl::EndsWith(said, quote);
                       });
  }
  bool EndsBeforeNumber(TextRange before, TextRange after) const {
    if (!absl::ascii_isdigit(text_[after.begin])) return false;
    absl::string_view word = Slice(before);
    const size_t space = word.find_last_of(" ([");
    if (space != word.npos) word.remove_prefix(space + 1);
    return std::find(std::begin(kBeforeNumbers), std::end(kBeforeNumbers),
                     word) != std::end(kBeforeNumbers);
  }
  // Capitals with a full stop each: "U.S. Navy", "John F. Kennedy". But not "So
  // do I."
  bool EndsWithInitials(TextRange before) const {
    absl::string_view rest = Slice(before);
    int initials = 0;
    bool all_i = true;
    while (rest.size() >= 2 && rest.back() == '.' &&
           absl::ascii_isupper(rest[rest.size() - 2])) {
      all_i &= rest[rest.size() - 2] == 'I';
      rest.remove_suffix(2);
      ++initials;
    }
    const bool apart = rest.empty() || rest.back() == ' ' || rest.back() == '(';
    return apart && initials > 0 && !all_i;
  }
  // A number of one or two digits, behind a space.
  bool EndsWithOrdinal(TextRange before) const {
    absl::string_view rest = Slice(before);
    if (!dotted_ordinals_ || !absl::EndsWith(rest, ".")) return false;
    rest.remove_suffix(1);
    int digits = 0;
    for (; !rest.empty() && absl::ascii_isdigit(rest.back()); ++digits) {
      rest.remove_suffix(1);
    }
    return digits >= 1 && digits <= 2 && absl::EndsWith(rest, " ");
  }

  const absl::string_view text_;
  const std::string language_;
  const std::vector<Literal> literals_;
  bool dotted_ordinals_;
  size_t literal_ = 0;  // the first that does not end before the sentences
};

// The number of small letters that a text ends with.
size_t SmallLettersAtEnd(absl::string_view text) {
  size_t letters = 0;
  while (letters < text.size() &&
         absl::ascii_islower(text[text.size() - 1 - letters])) {
    ++letters;
  }
  return letters;
}

// Where a sentence ends before one that begins with a number or with a small
// letter, which ICU does not see: "They run. 2 girls sit." -1: nowhere. Only
// behind a word that is no abbreviation; an unknown one may be short.
int EndBeforeSmall(absl::string_view text, absl::string_view language) {
  for (size_t dot = text.find(". "); dot != text.npos;
       dot = text.find(". ", dot + 1)) {
    absl::string_view after =
        absl::StripLeadingAsciiWhitespace(text.substr(dot + 1));
    if (absl::StartsWith(after, "#")) {
      after = absl::StripLeadingAsciiWhitespace(after.substr(1));
    }
    if (after.empty()) continue;
    const bool number = absl::ascii_isdigit(after.front());
    const size_t shortest = number ? 2 : 4;
    if ((number || absl::ascii_islower(after.front())) &&
        SmallLettersAtEnd(text.substr(0, dot)) >= shortest &&
        !EndsWithAbbreviation(text.substr(0, dot + 1), language)) {
      return static_cast<int>(dot + 1);
    }
  }
  return -1;
}

}  // namespace

std::vector<TextRange> SplitSentences(absl::string_view text,
                                      absl::string_view language) {
  const std::string base = BaseLanguage(language);
  const std::vector<FootnoteMark> marks = FindFootnoteMarks(text, base);
  std::vector<Literal> literals = FindLiterals(text);
  const std::string prepared = Prepared(text, marks, literals);
  Joining joining(prepared, language, std::move(literals));
  std::vector<TextRange> sentences;
  const auto add = [&](TextRange sentence) {
    if (!sentences.empty() && joining.GoesOn(sentences.back(), sentence)) {
      sentences.back().end = sentence.end;
    } else {
      sentences.push_back(sentence);
    }
  };
  for (TextRange sentence : Sentences(prepared, language)) {
    while (HasAbbreviations(base)) {
      const int end = EndBeforeSmall(
          absl::string_view(prepared).substr(sentence.begin, sentence.size()),
          base);
      if (end < 0) break;
      add({sentence.begin, sentence.begin + end});
      sentence = Trim(prepared, {sentence.begin + end, sentence.end});
    }
    add(sentence);
  }
  TakeMarks(marks, sentences);
  return sentences;
}

}  // namespace attend
