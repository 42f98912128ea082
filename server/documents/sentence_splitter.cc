#include "server/documents/sentence_splitter.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "server/documents/abbreviations.h"
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

class Joining {
 public:
  Joining(absl::string_view text, absl::string_view language)
      : text_(text),
        language_(BaseLanguage(language)),
        literals_(FindLiterals(text)) {
    dotted_ordinals_ =
        std::find(std::begin(kDottedOrdinals), std::end(kDottedOrdinals),
                  language_) != std::end(kDottedOrdinals);
  }

  // Whether `before` goes on with the sentence `after`, which follows it.
  // Called for one sentence after the other.
  bool GoesOn(TextRange before, TextRange after) {
    if (InLiteral(before.end, after.begin)) return true;
    if (absl::StrContains(Slice({before.end, after.begin}), '\n')) return false;
    if (EndsWithSpeech(before, after) || EndsWithOrdinal(before)) return true;
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
  Joining joining(text, language);
  const std::string base = BaseLanguage(language);
  std::vector<TextRange> sentences;
  const auto add = [&](TextRange sentence) {
    if (!sentences.empty() && joining.GoesOn(sentences.back(), sentence)) {
      sentences.back().end = sentence.end;
    } else {
      sentences.push_back(sentence);
    }
  };
  for (TextRange sentence : Sentences(text, language)) {
    while (HasAbbreviations(base)) {
      const int end =
          EndBeforeSmall(text.substr(sentence.begin, sentence.size()), base);
      if (end < 0) break;
      add({sentence.begin, sentence.begin + end});
      sentence = Trim(text, {sentence.begin + end, sentence.end});
    }
    add(sentence);
  }
  return sentences;
}

}  // namespace attend
