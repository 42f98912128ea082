#include "server/documents/abbreviations.h"

#include <unicode/resbund.h>
#include <unicode/unistr.h>
#include <unicode/ures.h>
#include <unicode/utypes.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"

namespace attend {
namespace {

using Words = std::set<std::string, std::less<>>;

struct Abbreviations {
  const char* language;
  absl::string_view words;  // separated by '|'
};

// Of ICU's, those that are words, and end sentences more often than they are
// abbreviations.
constexpr Abbreviations kWords[] = {
    {"en",
     "Act.|All.|Alt.|As.|By.|Cap.|Card.|DC.|Do.|Ex.|Go.|Hat.|I.|In.|Is.|Jam.|"
     "Job.|Joe.|Link.|Long.|MR.|Mart.|Min.|No.|OK.|Ok.|On.|Or.|PC.|Pro.|To.|"
     "Up."},
    {"de", "App.|Do.|Mi.|Mod.|PIN.|Port.|Sa.|So.|Test.|am.|led."},
    {"es", "Bien.|Kit.|RAM.|Rol.|SA.|Sol."},
    {"fr", "aux.|jeu.|mer.|voit."},
    {"pt", "com.|long.|mar."}};

// Abbreviations that may end a sentence, and the words that begin the next one
// then: in front of others the sentence goes on.
constexpr absl::string_view kMayEnd[] = {
    "a.m.", "p.m.", "etc.", "usw.", "Inc.", "Ltd.", "Co.", "Corp.", "ecc."};
constexpr Abbreviations kFirstWords[] = {
    {"en",
     "A|An|And|At|But|He|Her|His|How|I|If|In|Is|It|Its|My|On|Our|She|So|Some|"
     "That|The|Their|Then|There|These|They|This|Those|Two|We|What|When|Where|"
     "Who|Why|You|Your"},
    {"de",
     "Aber|Am|Auf|Da|Das|Dann|Der|Die|Dies|Diese|Ein|Eine|Er|Es|Ich|Ihr|Im|In|"
     "Ist|Sie|Und|Was|Wenn|Wer|Wie|Wir|Wo"}};

bool Has(absl::Span<const Abbreviations> lists, absl::string_view language,
         absl::string_view word) {
  for (const Abbreviations& list : lists) {
    if (list.language != language) continue;
    for (const absl::string_view listed : absl::StrSplit(list.words, '|')) {
      if (listed == word) return true;
    }
  }
  return false;
}

// Languages for which ICU has abbreviations, and what it lacks.
constexpr Abbreviations kMore[] = {
    {"en",
     "Dr.|Prof.|Mrs.|Ms.|Jr.|Sr.|St.|Mt.|Gen.|Col.|Capt.|Lt.|Maj.|Sgt.|Sen.|"
     "Rep.|Gov.|Rev.|Hon.|Inc.|Ltd.|Co.|Corp.|Dept.|Univ.|Ave.|Blvd.|Rd.|e.g.|"
     "i.e.|vs.|cf.|no.|nos.|fig.|vol.|ch.|approx.|Nos.|Fig.|Figs.|Eq.|Sec.|Vol."
     "|pp.|al.|Jan.|Feb.|"
     "Aug.|Sept.|Oct.|Nov.|Dec.|etc.|incl.|excl.|misc.|resp.|approx.|temp.|"
     "orig.|abbr.|govt.|assn.|intl.|natl.|elec.|cont."},
    {"de",
     "Dr.|Prof.|Dipl.|Ing.|Hr.|Fr.|St.|Str.|Nr.|Nrn.|Abb.|Abs.|Art.|Bd.|Kap.|"
     "Tab.|vgl.|Vgl.|bzw.|ca.|inkl.|exkl.|evtl.|sog.|ggf.|usw.|z.B.|z. B.|Z.B.|"
     "d.h.|d. h.|D.h.|u.a.|u. a.|o.\u00e4.|i.d.R.|Jan.|Feb.|Aug.|Sept.|Okt.|"
     "Nov.|Dez.|Mio.|Mrd.|bspw.|insb.|einschl.|ausschl.|zzgl.|zgl.|bezgl.|"
     "entspr.|mind.|wiss."},
    {"es", "Sr.|Sra.|Dr.|Dra.|Ud.|Uds.|p. ej.|etc."},
    {"fr", "M.|MM.|Mme.|Dr.|p. ex.|etc."},
    {"it", "Sig.|Dott.|Prof.|ecc."},
    {"pt", "Sr.|Sra.|Dr.|Dra.|p. ex.|etc."},
    {"ru", "\u0433.|\u0443\u043b.|\u0442.\u0435.|\u0442. \u0435."}};

void AddOfIcu(const char* language, Words& words) {
  UErrorCode error = U_ZERO_ERROR;
  using Bundle = std::unique_ptr<UResourceBundle, decltype(&ures_close)>;
  const Bundle all(ures_open(U_ICUDATA_NAME "-brkitr", language, &error),
                   ures_close);
  const Bundle exceptions(
      ures_getByKey(all.get(), "exceptions", nullptr, &error), ures_close);
  const Bundle list(
      ures_getByKey(exceptions.get(), "SentenceBreak", nullptr, &error),
      ures_close);
  if (U_FAILURE(error)) return;
  const int size = ures_getSize(list.get());
  for (int i = 0; i < size; ++i) {
    int length = 0;
    const UChar* const word =
        ures_getStringByIndex(list.get(), i, &length, &error);
    if (U_FAILURE(error)) return;
    std::string utf8;
    icu::UnicodeString(word, length).toUTF8String(utf8);
    words.insert(std::move(utf8));
  }
}

using WordsByLanguage = std::map<std::string, Words, std::less<>>;

WordsByLanguage AllWords() {
  WordsByLanguage all;
  for (const Abbreviations& more : kMore) {
    Words& words = all[more.language];
    AddOfIcu(more.language, words);
    for (absl::string_view word : absl::StrSplit(more.words, '|')) {
      words.emplace(word);
    }
  }
  for (const Abbreviations& words : kWords) {
    for (const absl::string_view word : absl::StrSplit(words.words, '|')) {
      all[words.language].erase(std::string(word));
    }
  }
  return all;
}

const WordsByLanguage& All() {
  static const auto& all = *new WordsByLanguage(AllWords());
  return all;
}

}  // namespace

bool HasAbbreviations(absl::string_view language) {
  return All().count(language) > 0;
}

bool MayEndSentence(absl::string_view text) {
  return std::any_of(
      std::begin(kMayEnd), std::end(kMayEnd),
      [&](absl::string_view end) { return absl::EndsWith(text, end); });
}

bool BeginsSentence(absl::string_view text, absl::string_view language) {
  return Has(kFirstWords, language, text.substr(0, text.find(' ')));
}

bool EndsWithAbbreviation(absl::string_view text, absl::string_view language) {
  if (!absl::EndsWith(text, ".")) return false;
  const auto words = All().find(language);
  if (words == All().end()) return false;
  // The last word, or the last two words, without a bracket before them.
  size_t begin = text.size();
  for (int i = 0; i < 2 && begin != text.npos && begin > 0; ++i) {
    begin = text.substr(0, begin).rfind(' ');
    absl::string_view last = begin == text.npos ? text : text.substr(begin + 1);
    while (!last.empty() && absl::StrContains("(\"'[", last.front())) {
      last.remove_prefix(1);
    }
    if (words->second.count(last) > 0) return true;
  }
  return false;
}

}  // namespace attend
