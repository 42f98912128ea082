#include "server/libretranslate/choose_model.h"

#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/documents/find_language.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

// A model that translates, and its languages.
struct Translator {
  std::string name;
  std::vector<std::string> sources, targets;
};

// Returns the models that the tenant may use, in order.
std::vector<Translator> TranslatorsOf(const Service& service,
                                      const CallContext& context) {
  std::vector<Translator> translators;
  for (const SharedModel& model : service.models.All()) {
    const ModelEntry& entry = *model;
    if (!entry.served.ok() || !context.account().MayUse(entry.name)) continue;
    const ModelInfo& info = entry.served->info();
    if (!info.generates || info.continues_source) continue;
    const Tokenizer& tokenizer = entry.served->tokenizer;
    translators.push_back({.name = entry.name,
                           .sources = tokenizer.languages(Side::kSource),
                           .targets = tokenizer.languages(Side::kTarget)});
  }
  return translators;
}

bool Has(const std::vector<std::string>& languages, absl::string_view code) {
  return !FindLanguage(code, languages).empty();
}

absl::Status WrongLanguage(const char* field, absl::string_view code,
                           absl::string_view must) {
  return FieldError(field,
                    absl::StrCat("is '", absl::CHexEscape(code.substr(0, 100)),
                                 "', must be ", must));
}

// The only language from which there is a translation to `target`.
absl::StatusOr<ChosenModel> ChooseSource(
    const std::string& target, const std::vector<Translator>& translators) {
  std::set<std::string> all, sources;
  std::string first;  // that translates to `target`
  for (const Translator& model : translators) {
    all.insert(model.sources.begin(), model.sources.end());
    if (!Has(model.targets, target)) continue;
    sources.insert(model.sources.begin(), model.sources.end());
    if (first.empty()) first = model.name;
  }
  if (sources.size() == 1) return ChosenModel{first, *sources.begin()};
  if (sources.empty() && all.size() == 1 &&
      SameLanguage(target, *all.begin())) {
    return ChosenModel{"", *all.begin()};
  }
  if (sources.empty()) {
    return WrongLanguage("target", target,
                         "a language of /languages that another one can be "
                         "translated to");
  }
  return WrongLanguage(
      "source", kAutoLanguage,
      absl::StrCat("a language of /languages: nothing detects languages, and "
                   "there are ",
                   sources.size(), " from which '",
                   absl::CHexEscape(target.substr(0, 100)),
                   "' can be translated to"));
}

}  // namespace

absl::StatusOr<ChosenModel> ChooseModel(const std::string& source,
                                        const std::string& target,
                                        const Service& service,
                                        const CallContext& context) {
  const std::vector<Translator> translators = TranslatorsOf(service, context);
  if (source == kAutoLanguage) return ChooseSource(target, translators);
  bool is_source = false;
  bool is_known = false;
  for (const Translator& model : translators) {
    const bool reads = Has(model.sources, source);
    is_known |= reads || Has(model.targets, source);
    is_source |= reads;
    if (reads && Has(model.targets, target) && !SameLanguage(source, target)) {
      return ChosenModel{model.name, source};
    }
  }
  if (is_known && SameLanguage(source, target)) return ChosenModel{"", source};
  if (!is_source) {
    return WrongLanguage("source", source, "a language of /languages");
  }
  return WrongLanguage(
      "target", target,
      "a language of /languages that the source can be translated to");
}

}  // namespace attend
