// GET /languages

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "server/documents/text_breaks.h"
#include "server/http_call/json_value.h"
#include "server/libretranslate/libretranslate_api.h"
#include "server/service/methods.h"

namespace attend {
namespace {

struct Language {
  std::string name;
  std::set<std::string> targets;
};
using Languages = std::map<std::string, Language>;  // by code

// Languages of a model as clients name them: "en" for "eng_Latn". If several
// have the same code, all but the first keep the model's spelling. A
// request may use either; see FindLanguage().
template <class List>
std::vector<std::string> CodesOf(const List& languages) {
  std::vector<std::string> codes;
  std::set<std::string> seen;
  for (const std::string& language : languages) {
    const std::string base = BaseLanguage(language);
    const bool first = !base.empty() && seen.insert(base).second;
    codes.push_back(first ? base : language);
  }
  return codes;
}

void Add(const std::string& code, Languages& to) {
  if (to.count(code) > 0) return;
  std::string name = LanguageName(code);
  if (name != code && code != BaseLanguage(code)) {
    absl::StrAppend(&name, " (", code, ")");
  }
  to[code].name = std::move(name);
}

bool Translates(const v1::Model& model) {
  return model.ready() && !model.continues_source() &&
         std::count(model.tasks().begin(), model.tasks().end(),
                    v1::TASK_GENERATE) > 0;
}

void Add(const v1::Model& model, Languages& to) {
  const std::vector<std::string> targets = CodesOf(model.target_languages());
  const std::vector<std::string> sources = CodesOf(model.source_languages());
  for (const std::string& code : targets) Add(code, to);
  for (const std::string& code : sources) {
    Add(code, to);
    to[code].targets.insert(targets.begin(), targets.end());
    to[code].targets.erase(code);
  }
}

class LanguagesTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput&, const Service&,
                                      CallContext&) override {
    return HandledRequest{NewListModelsHandler,
                          std::make_unique<v1::ListModelsRequest>()};
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    Languages languages;
    for (const v1::Model& model :
         static_cast<const v1::ListModelsResponse&>(answer).models()) {
      if (Translates(model)) Add(model, languages);
    }
    Json list = Json::array();
    for (const auto& [code, language] : languages) {
      list.push_back({{"code", code},
                      {"name", language.name},
                      {"targets", language.targets}});
    }
    text += DumpJson(list);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<HttpTranslator> NewLanguagesTranslator() {
  return std::make_unique<LanguagesTranslator>();
}

}  // namespace attend
