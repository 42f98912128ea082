// POST /translate

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "attend/v1/attend.pb.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/text_breaks.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_fields.h"
#include "server/libretranslate/choose_model.h"
#include "server/libretranslate/form_body.h"
#include "server/libretranslate/libretranslate_api.h"
#include "server/service/immediate_handler.h"
#include "server/service/methods.h"

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
  const bool markdown = value.json() == Json("markdown");
  const bool text = value.json() == Json("text") || value.json() == Json("");
  to.format = html       ? v1::DOCUMENT_FORMAT_HTML
              : markdown ? v1::DOCUMENT_FORMAT_MARKDOWN
                         : v1::DOCUMENT_FORMAT_TEXT;
  return value.Expect(html || markdown || text,
                      "\"text\", \"html\" or \"markdown\"");
}

// A form has digits, or nothing where its user has entered nothing.
absl::Status ReadAlternatives(const JsonValue& value, TranslateFields& to) {
  if (value.json() == Json("")) return absl::OkStatus();
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
    {"source", kAnyString,
     "The language of the texts, as /languages says it. auto: the only one "
     "from "
     "which the models translate to target.",
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
    {"format", R"({"enum": ["text", "html", "markdown", ""]})",
     "The format of the texts; text by default.", ReadFormat},
    {"alternatives", R"({"type": "integer", "minimum": 0})",
     "Other translations of each text to return.", ReadAlternatives},
    {"api_key", kAnyString,
     "Accepted, and not read: a key belongs into the header Authorization.",
     [](const JsonValue& value, TranslateFields&) {
       return value.String().status();
     }},
};

// A text in the target language is its own translation.
absl::StatusOr<v1::TranslateResponse> ReturnTexts(
    const Service& service, CallContext&, const v1::TranslateRequest& request) {
  RETURN_IF_ERROR(service.CheckCount("documents", request.documents_size()));
  v1::TranslateResponse response;
  for (const std::string& text : request.documents()) {
    response.add_results()->set_text(text);
  }
  return response;
}

std::unique_ptr<Handler> NewReturnTextsHandler(const Service& service,
                                               CallContext& context) {
  return NewImmediateHandler(service, context, ReturnTexts);
}

class LibreTranslateTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service& service,
                                      CallContext& context) override {
    TranslateFields fields;
    ASSIGN_OR_RETURN(
        const Json body,
        ParseParameters(input.query, input.body.text, input.content_type));
    RETURN_IF_ERROR(ReadFields<TranslateFields>({body, ""}, kFields, fields));
    if (!fields.texts) return FieldError("q", "is absent, must be there");
    is_list_ = fields.is_list;
    alternatives_ = fields.alternatives;
    auto request = std::make_unique<v1::TranslateRequest>();
    ASSIGN_OR_RETURN(
        const ChosenModel chosen,
        ChooseModel(fields.source, fields.target, service, context));
    if (fields.source == kAutoLanguage) {
      const std::string code = BaseLanguage(chosen.source);
      assumed_ = code.empty() ? chosen.source : code;
    }
    request->set_model(chosen.model);
    request->set_source_language(chosen.source);
    request->set_target_language(fields.target);
    request->set_format(fields.format);
    request->set_alternatives(fields.alternatives);
    for (std::string& text : *fields.texts) {
      request->add_documents(std::move(text));
    }
    return HandledRequest{
        chosen.model.empty() ? NewReturnTextsHandler : NewTranslateHandler,
        std::move(request)};
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
  std::string assumed_;  // the language of the texts, if the source is "auto"
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
  if (!assumed_.empty()) {
    // Nothing was detected, but no other language can be meant.
    const Json one = {{"confidence", 100}, {"language", assumed_}};
    body["detectedLanguage"] = is_list_ ? Json(texts.size(), one) : one;
  }
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
