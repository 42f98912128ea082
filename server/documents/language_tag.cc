#include "server/documents/language_tag.h"

#include <unicode/locid.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace attend {
namespace {

// Longer ones are none.
constexpr size_t kLongestCode = 32;

// Codes that are no subtags of BCP 47, but that programs use: those of
// LibreTranslate ("zt", "pb"), M2M-100's code of Northern Sotho, and names of
// OPUS-MT models.
constexpr std::pair<absl::string_view, absl::string_view> kOtherCodes[] = {
    {"zt", "zh-Hant"},   {"pb", "pt-BR"},   {"ns", "nso"},
    {"romance", "roa"},  {"celtic", "cel"}, {"scandinavia", "gmq"},
    {"north-eu", "gem"}, {"hbs", "sh"},
};

// Members of macrolanguages (ISO 639-3) that stand for the whole language, and
// that not every version of CLDR replaces by it.
constexpr std::pair<absl::string_view, absl::string_view> kWholeLanguages[] = {
    {"nb", "no"},  {"tw", "ak"},  {"pbt", "ps"}, {"quy", "qu"}, {"fuv", "ff"},
    {"knc", "kr"}, {"gug", "gn"}, {"ike", "iu"}, {"kng", "kg"}, {"kpv", "kv"},
    {"ojb", "oj"}, {"sro", "sc"}, {"zyb", "za"}, {"esi", "ik"},
};

// A code in the syntax of BCP 47.
std::string TagOf(absl::string_view code) {
  absl::string_view modifier;
  if (const size_t at = code.find('@'); at != code.npos) {
    modifier = code.substr(at + 1);
    code = code.substr(0, at);
  }
  code = code.substr(0, code.find('.'));  // the encoding of a POSIX locale
  std::string tag =
      absl::AsciiStrToLower(absl::StrReplaceAll(code, {{"_", "-"}}));
  for (const auto& [other, meant] : kOtherCodes) {
    if (tag == other) tag = std::string(meant);
  }
  if (modifier == "latin" || modifier == "cyrillic") {
    const size_t end = std::min(tag.size(), tag.find('-'));
    tag.insert(end, modifier == "latin" ? "-latn" : "-cyrl");
  }
  // mBART's "XX" is no region.
  if (absl::EndsWith(tag, "-xx")) tag.resize(tag.size() - 3);
  return tag;
}

}  // namespace

std::optional<LanguageTag> ReadLanguageTag(absl::string_view code) {
  if (code.empty() || code.size() > kLongestCode) return std::nullopt;
  UErrorCode error = U_ZERO_ERROR;
  const std::string tag = TagOf(code);
  const icu::Locale locale = icu::Locale::forLanguageTag(tag, error);
  LanguageTag read;
  read.language = locale.getLanguage();
  icu::Locale canonical = locale;
  canonical.canonicalize(error);
  icu::Locale likely = canonical;
  likely.addLikelySubtags(error);
  if (U_FAILURE(error) || read.language.empty()) return std::nullopt;
  read.canonical = canonical.getLanguage();
  for (const auto& [member, whole] : kWholeLanguages) {
    if (read.canonical == member) read.canonical = std::string(whole);
  }
  read.region = canonical.getCountry();
  read.script = likely.getScript();
  read.likely_region = likely.getCountry();
  return read;
}

}  // namespace attend
