// POST /tokenize and /detokenize, as vLLM has them.

#include <algorithm>
#include <utility>

#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_fields.h"
#include "server/openai/answer.h"
#include "server/openai/messages.h"
#include "server/openai/model_field.h"
#include "server/openai/neutral_fields.h"
#include "server/openai/openai_api.h"
#include "server/openai/tools.h"
#include "server/service/methods.h"

namespace attend {
namespace {

struct TokenizeFields {
  v1::TokenizeRequest request;
  Json variables = Json::object();
  std::optional<bool> add_special;
  bool strings = false;  // wanted, beside the ids
};
using TokenizeField = JsonField<TokenizeFields>;

v1::Chat& ChatOf(TokenizeFields& fields) {
  if (fields.request.chats().empty()) fields.request.add_chats();
  return *fields.request.mutable_chats(0);
}

constexpr TokenizeField kTokenizeFields[] = {
    ModelField<TokenizeFields,
               [](TokenizeFields& to) { return to.request.mutable_model(); }>(),
    {"prompt", kAnyString, "The text.",
     [](const JsonValue& value, TokenizeFields& to) {
       ASSIGN_OR_RETURN(*to.request.add_texts(), value.String());
       return absl::OkStatus();
     }},
    {"messages", R"({"type": "array", "items": {"type": "object"}})",
     "A conversation, in place of a text.",
     [](const JsonValue& value, TokenizeFields& to) {
       return ReadMessages(value, ChatOf(to));
     }},
    {"tools", R"({"type": "array", "items": {"type": "object"}})",
     "Functions that the conversation's model may call.",
     [](const JsonValue& value, TokenizeFields& to) {
       ASSIGN_OR_RETURN(const std::vector<Tool> tools, ReadTools(value));
       if (!tools.empty()) to.variables["tools"] = value.json();
       return absl::OkStatus();
     }},
    {"chat_template_kwargs", R"({"type": "object"})",
     "Variables of the model's chat template.",
     [](const JsonValue& value, TokenizeFields& to) {
       return ReadTemplateVariables(value, to.variables);
     }},
    {"add_generation_prompt", R"({"type": "boolean"})",
     "False: do not begin an answer of the assistant.",
     [](const JsonValue& value, TokenizeFields& to) {
       ASSIGN_OR_RETURN(const bool add, value.Bool());
       ChatOf(to).set_no_generation_prompt(!add);
       return absl::OkStatus();
     }},
    {"add_special_tokens", R"({"type": "boolean"})",
     "Of a text. Default: true.",
     [](const JsonValue& value, TokenizeFields& to) {
       ASSIGN_OR_RETURN(to.add_special, value.Bool());
       return absl::OkStatus();
     }},
    {"return_token_strs", R"({"type": "boolean"})",
     "Return the vocabulary's spelling of each token, too.",
     [](const JsonValue& value, TokenizeFields& to) {
       ASSIGN_OR_RETURN(to.strings, value.Bool());
       return absl::OkStatus();
     }},
};

class TokenizeTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service& service,
                                      CallContext& context) override {
    TokenizeFields fields;
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(
        ReadFields<TokenizeFields>({body, ""}, kTokenizeFields, fields));
    v1::TokenizeRequest& request = fields.request;
    const bool chat = request.chats_size() > 0;
    if (request.texts_size() + request.chats_size() != 1 ||
        (chat && request.chats(0).messages().empty())) {
      return FieldError("prompt", "or messages must be there, and not both");
    }
    if (chat && fields.add_special.value_or(false)) {
      return FieldError("add_special_tokens",
                        "is true, must be false: the template writes them");
    }
    if (!chat && !fields.variables.empty()) {
      return FieldError("prompt", "is no conversation, so it has no variables");
    }
    request.set_no_special_tokens(!fields.add_special.value_or(true));
    if (chat && !fields.variables.empty()) {
      request.mutable_chats(0)->set_variables_json(DumpJson(fields.variables));
    }
    ASSIGN_OR_RETURN(const ServedModel* model,
                     service.Find(request.model(), context));
    max_model_len_ = std::max(model->info().max_source_tokens,
                              model->info().max_target_tokens);
    strings_ = fields.strings;
    return HandledRequest{
        NewTokenizeHandler,
        std::make_unique<v1::TokenizeRequest>(std::move(request))};
  }
  FieldNames field_names() const override {
    static constexpr std::pair<absl::string_view, absl::string_view> kNames[] =
        {{"texts[0]", "prompt"},
         {"chats[0].messages", "messages"},
         {"chats[0]", "messages"}};
    return kNames;
  }

  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    const v1::Tokenization& result =
        static_cast<const v1::TokenizeResponse&>(answer).results(0);
    Json json = {{"count", result.ids_size()},
                 {"max_model_len", max_model_len_},
                 {"tokens", Json::array()},
                 {"token_strs", nullptr}};
    for (const int id : result.ids()) json["tokens"].push_back(id);
    if (strings_) {
      json["token_strs"] = Json::array();
      for (const std::string& piece : result.pieces()) {
        json["token_strs"].push_back(piece);
      }
    }
    text += DumpJson(json);
    return absl::OkStatus();
  }

 private:
  int max_model_len_ = 0;
  bool strings_ = false;
};

constexpr JsonField<v1::DetokenizeRequest> kDetokenizeFields[] = {
    ModelField<v1::DetokenizeRequest,
               [](v1::DetokenizeRequest& to) { return to.mutable_model(); }>(),
    {"tokens", R"({"type": "array", "items": {"type": "integer"}})",
     "Token ids.",
     [](const JsonValue& value, v1::DetokenizeRequest& to) {
       return value.ReadIds(*to.add_sequences()->mutable_ids());
     }},
};

class DetokenizeTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service&, CallContext&) override {
    auto request = std::make_unique<v1::DetokenizeRequest>();
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(ReadFields<v1::DetokenizeRequest>(
        {body, ""}, kDetokenizeFields, *request));
    if (request->sequences_size() == 0) {
      return FieldError("tokens", "is absent, must be there");
    }
    request->set_keep_special_tokens(true);
    return HandledRequest{NewDetokenizeHandler, std::move(request)};
  }
  FieldNames field_names() const override {
    static constexpr std::pair<absl::string_view, absl::string_view> kNames[] =
        {{"sequences[0].ids", "tokens"}, {"sequences[0]", "tokens"}};
    return kNames;
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    const auto& response = static_cast<const v1::DetokenizeResponse&>(answer);
    text += DumpJson(Json{{"prompt", response.results(0).text()}});
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<HttpTranslator> NewTokenizeTranslator() {
  return std::make_unique<TokenizeTranslator>();
}

std::unique_ptr<HttpTranslator> NewDetokenizeTranslator() {
  return std::make_unique<DetokenizeTranslator>();
}

std::vector<FieldHelp> TokenizeFieldList() {
  return Describe<TokenizeFields>(kTokenizeFields);
}

std::vector<FieldHelp> DetokenizeFieldList() {
  return Describe<v1::DetokenizeRequest>(kDetokenizeFields);
}

}  // namespace attend
