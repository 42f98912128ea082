// POST /translate

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_fields.h"
#include "server/libretranslate/form_body.h"
#include "server/libretranslate/libretranslate_api.h"
#include "server/service/methods.h"
#include "server/service/translation_languages.h"

namespace attend {
namespace {

struct TranslateFields {
  std::optional<std::vector<std::string>> texts;
  bool is_list = false;  // `q` is a list, and so are the answers
  std::string source, target;
  v1::DocumentFormat format = v1::DOCUMENT_FORMAT_TEXT;
  int alternatives = 0;
};

absl::Status ReadTexts(const JsonValue& value, TranslateFields& to) {
  ASSIGN_OR_RETURN(to.texts, value.Strings());
  to.is_list = value.json().is_array();
  return absl::OkStatus();
}

absl::Status ReadFormat(const JsonValue& value, TranslateFields& to) {
  const bool html = value.json() == Json("html");
  to.format = html ? v1::DOCUMENT_FORMAT_HTML : v1::DOCUMENT_FORMAT_TEXT;
  return value.Expect(html || value.json() == Json("text"),
                      "\"text\" or \"html\"");
}

// A form has digits.
absl::Status ReadAlternatives(const JsonValue& value, TranslateFields& to) {
  if (value.json().is_string() &&
      absl::SimpleAtoi(value.json().get_ref<const std::string&>(),
                       &to.alternatives)) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(to.alternatives, value.Int());
  return absl::OkStatus();
}

constexpr char kAnyString[] = R"({"type": "string"})";

constexpr JsonField<TranslateFields> kFields[] = {
    {"q",
     R"({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})",
     "The text, or several texts, to translate: each of any number of "
     "sentences.",
     ReadTexts},
    {"source", kAnyString, "The language of the texts, as /languages says it.",
     [](const JsonValue& value, TranslateFields& to) {
       ASSIGN_OR_RETURN(to.source, value.String());
       return absl::OkStatus();
     }},
    {"target", kAnyString,
     "The language of the translations, as /languages says it.",
     [](const JsonValue& value, TranslateFields& to) {
       ASSIGN_OR_RETURN(to.target, value.String());
       return absl::OkStatus();
     }},
    {"format", R"({"enum": ["text", "html"]})",
     "What the texts are written in; text by default.", ReadFormat},
    {"alternatives", R"({"type": "integer", "minimum": 0})",
     "Other translations of each text to return.", ReadAlternatives},
    {"api_key", kAnyString,
     "Accepted, and not read: a key belongs into the header Authorization.",
     [](const JsonValue& value, TranslateFields&) {
       return value.String().status();
     }},
};

// The first model that translates from `source` to `target`, of those that the
// tenant may use.
absl::StatusOr<std::string> ChooseModel(const TranslateFields& fields,
                                        const Service& service,
                                        const CallContext& context) {
  bool is_source = false;
  for (const SharedModel& model : service.models.All()) {
    const ModelEntry& entry = *model;
    if (!entry.served.ok() || !context.account().MayUse(entry.name)) continue;
    const ModelInfo& info = entry.served->info();
    const Tokenizer& tokenizer = entry.served->tokenizer;
    if (!info.generates || info.continues_source ||
        FindLanguage(fields.source, tokenizer.languages(Side::kSource))
            .empty()) {
      continue;
    }
    is_source = true;
    if (!FindLanguage(fields.target, tokenizer.languages(Side::kTarget))
             .empty()) {
      return entry.name;
    }
  }
  const std::string& wrong = is_source ? fields.target : fields.source;
  return FieldError(
      is_source ? "target" : "source",
      absl::StrCat("is '", absl::CHexEscape(wrong.substr(0, 100)),
                   "', must be a language of /languages",
                   is_source ? " that it can be translated to" : ""));
}

class LibreTranslateTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service& service,
                                      CallContext& context) override {
    TranslateFields fields;
    ASSIGN_OR_RETURN(const Json body,
                     ParseFormOrJson(input.body.text, input.content_type));
    RETURN_IF_ERROR(ReadFields<TranslateFields>({body, ""}, kFields, fields));
    if (!fields.texts) return FieldError("q", "is absent, must be there");
    is_list_ = fields.is_list;
    alternatives_ = fields.alternatives;
    auto request = std::make_unique<v1::TranslateRequest>();
    ASSIGN_OR_RETURN(*request->mutable_model(),
                     ChooseModel(fields, service, context));
    request->set_source_language(fields.source);
    request->set_target_language(fields.target);
    request->set_format(fields.format);
    request->set_alternatives(fields.alternatives);
    for (std::string& text : *fields.texts) {
      request->add_documents(std::move(text));
    }
    return HandledRequest{NewTranslateHandler, std::move(request)};
  }
  FieldNames field_names() const override {
    static constexpr std::pair<absl::string_view, absl::string_view> kNames[] =
        {{"documents", "q"}};
    return kNames;
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override;

 private:
  bool is_list_ = false;
  int alternatives_ = 0;
};

// Different ones, and none that is the translation.
Json AlternativesOf(const v1::Translation& translation) {
  std::set<std::string> seen = {translation.text()};
  Json texts = Json::array();
  for (const std::string& text : translation.alternatives()) {
    if (seen.insert(text).second) texts.push_back(text);
  }
  return texts;
}

absl::Status LibreTranslateTranslator::Append(
    const google::protobuf::Message& answer, std::string& text) {
  Json texts = Json::array();
  Json alternatives = Json::array();
  for (const v1::Translation& translation :
       static_cast<const v1::TranslateResponse&>(answer).results()) {
    if (translation.status().code() != 0) {
      return FailureOf(translation.status());
    }
    texts.push_back(translation.text());
    if (alternatives_ > 0) alternatives.push_back(AlternativesOf(translation));
  }
  Json body = {{"translatedText", is_list_ ? texts : texts[0]}};
  if (alternatives_ > 0) {
    body["alternatives"] = is_list_ ? alternatives : alternatives[0];
  }
  text += DumpJson(body);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<HttpTranslator> NewLibreTranslateTranslator() {
  return std::make_unique<LibreTranslateTranslator>();
}

std::vector<FieldHelp> LibreTranslateFieldList() {
  return Describe<TranslateFields>(kFields);
}

}  // namespace attend
