// POST /v1/chat/completions.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/openai/call_grammar.h"
#include "server/openai/constraint_fields.h"
#include "server/openai/generating_translator.h"
#include "server/openai/messages.h"
#include "server/openai/neutral_fields.h"
#include "server/openai/openai_api.h"
#include "server/openai/tool_calls.h"
#include "server/openai/tools.h"

namespace attend {
namespace {

// The fields that only chat has.
struct ChatFields {
  GenerationRequest& generation;
  v1::Chat chat = {};
  Json variables = Json::object();  // of the template
  ToolFields tools = {};
  std::optional<int64_t> top_log_probs = {};
};
using ChatField = JsonField<ChatFields>;

absl::Status ReadModalities(const JsonValue& value, ChatFields&) {
  return value.Expect(value.json() == Json::array({"text"}), "[\"text\"]");
}

constexpr ChatField kChatFields[] = {
    {"messages", R"({"type": "array", "items": {"type": "object"}})",
     "The conversation. Roles: system, developer, user, assistant, tool. "
     "Contents: texts, or parts of type text.",
     [](const JsonValue& value, ChatFields& to) {
       return ReadMessages(value, to.chat);
     }},
    {"logprobs", R"({"type": "boolean"})",
     "Return the log-probability of each token.",
     [](const JsonValue& value, ChatFields& to) {
       ASSIGN_OR_RETURN(to.generation.log_probs, value.Bool());
       return absl::OkStatus();
     }},
    {"top_logprobs", R"({"type": "integer", "minimum": 0, "maximum": 20})",
     "With logprobs: so many alternatives of each token.",
     [](const JsonValue& value, ChatFields& to) {
       ASSIGN_OR_RETURN(to.top_log_probs, value.Int(0, 20));
       return absl::OkStatus();
     }},
    {"tools", R"({"type": "array", "items": {"type": "object"}})",
     "Functions that the model may call, if its template knows tools.",
     [](const JsonValue& value, ChatFields& to) {
       ASSIGN_OR_RETURN(to.tools.tools, ReadTools(value));
       to.variables["tools"] = value.json();
       return absl::OkStatus();
     }},
    {"tool_choice",
     R"({"oneOf": [{"enum": ["none", "auto", "required"]}, {"type": "object"}]})",
     "Whether the model may or has to call functions, or which one: {\"type\": "
     "\"function\", \"function\": {\"name\"}}.",
     [](const JsonValue& value, ChatFields& to) {
       return ReadToolChoice(value, to.tools);
     }},
    {"parallel_tool_calls", R"({"type": "boolean"})",
     "Whether there may be several calls at once.",
     [](const JsonValue& value, ChatFields& to) {
       ASSIGN_OR_RETURN(to.tools.parallel, value.Bool());
       return absl::OkStatus();
     }},
    {"modalities", R"({"const": ["text"]})", "Only text.", ReadModalities},
    {"chat_template_kwargs", R"({"type": "object"})",
     "Variables of the model's chat template.",
     [](const JsonValue& value, ChatFields& to) {
       return ReadTemplateVariables(value, to.variables);
     }},
    {"add_generation_prompt", R"({"type": "boolean"})",
     "False: do not begin an answer of the assistant.",
     [](const JsonValue& value, ChatFields& to) {
       ASSIGN_OR_RETURN(const bool add, value.Bool());
       to.chat.set_no_generation_prompt(!add);
       return absl::OkStatus();
     }},
};

class ChatTranslator final : public GeneratingTranslator {
 public:
  ChatTranslator()
      : GeneratingTranslator("chatcmpl-", "chat.completion",
                             "chat.completion.chunk") {}

  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service& service,
                                      CallContext& context) override;

 private:
  // How far a choice has come.
  struct Progress {
    bool begun = false;
    int calls = 0;
    std::optional<ToolCallParser> parser;
  };

  absl::Status FinishTools(ChatFields& fields);
  void AddChoice(const ChoicePart& part, Json& choices) override;
  Json WholeMessage(ToolCallParser::Found found, Progress& progress);
  Json Delta(ToolCallParser::Found found, bool first, Progress& progress);
  Json ToolCallJson(const ToolCall& call, Progress& progress);

  std::string id_;  // of the call
  ToolFormat format_ = ToolFormat::kNone;
  bool short_ids_ = false;  // of tool calls
  std::vector<std::string> tool_names_;
  int64_t calls_ = 0;
  std::vector<Progress> progress_;
};

absl::StatusOr<HandledRequest> ChatTranslator::Read(const HttpCallInput& input,
                                                    const Service& service,
                                                    CallContext& context) {
  ChatFields fields{.generation = generation_};
  ASSIGN_OR_RETURN(const Json body,
                   ParseBody(input.body.text, input.content_type));
  RETURN_IF_ERROR(
      ReadGeneration<ChatFields>(body, kChatFields, generation_, fields));
  if (fields.chat.messages().empty()) {
    return FieldError("messages", "is absent, must be there");
  }
  if (generation_.max_tokens == 0 || generation_.max_completion_tokens == 0) {
    return FieldError(
        generation_.max_tokens == 0 ? "max_tokens" : "max_completion_tokens",
        "is 0, must be 1 or more");
  }
  if (fields.top_log_probs > 0 && !generation_.log_probs) {
    return FieldError("top_logprobs", absl::StrCat("is ", *fields.top_log_probs,
                                                   ", needs logprobs: true"));
  }
  generation_.top_log_probs =
      static_cast<int>(fields.top_log_probs.value_or(0));
  ASSIGN_OR_RETURN(const ServedModel* served, FindModel(service, context));
  RETURN_IF_ERROR(
      Finish(served->info(), /*default_max_tokens=*/0, generation_));
  id_ = context.request_id();
  RETURN_IF_ERROR(FinishTools(fields));
  if (!fields.variables.empty()) {
    fields.chat.set_variables_json(DumpJson(fields.variables));
  }
  *generation_.request->add_inputs()->mutable_chat() = std::move(fields.chat);
  static constexpr FieldNames::value_type kNames[] = {
      {"inputs[0].chat.messages", "messages"},
      {"inputs[0].chat", "messages"},
      {"inputs[0]", "messages"},
  };
  return Handled(kNames);
}

absl::Status ChatTranslator::FinishTools(ChatFields& fields) {
  const ToolFields& tools = fields.tools;
  RETURN_IF_ERROR(CheckTools(tools));
  if (tools.tools.empty()) return absl::OkStatus();
  if (tools.choice == ToolChoice::kNone) {
    fields.variables.erase("tools");
    return absl::OkStatus();
  }
  const ToolFormat taught =
      model().chat == nullptr ? ToolFormat::kNone : ToolFormatOf(*model().chat);
  short_ids_ = taught == ToolFormat::kMistral;
  if (tools.choice == ToolChoice::kNamed) tool_names_ = {tools.name};
  if (tools.must_call()) {
    format_ = tools.choice == ToolChoice::kNamed ? ToolFormat::kArguments
                                                 : ToolFormat::kCalls;
    return ConstrainToJson("tools", CallSchema(tools), generation_);
  }
  if (!generation_.constraint_field.empty()) {
    return FieldError(generation_.constraint_field,
                      "is given, and so are tools, which the model could not "
                      "call then");
  }
  format_ = taught;
  if (format_ == ToolFormat::kNone) {
    return FieldError(
        "tools", absl::StrCat("are given, but the chat template of model '",
                              model().info().name, "' knows no tools"));
  }
  for (const Tool& tool : tools.tools) tool_names_.push_back(tool.name);
  ASSIGN_OR_RETURN(const std::string grammar, CallGrammar(tools, format_));
  if (grammar.empty()) return absl::OkStatus();
  return ConstrainToGrammar("tools", grammar, generation_);
}

void ChatTranslator::AddChoice(const ChoicePart& part, Json& choices) {
  const size_t index = IndexOf(part);
  if (progress_.size() <= index) progress_.resize(index + 1);
  Progress& progress = progress_[index];
  if (!progress.parser) progress.parser.emplace(format_, tool_names_);
  const bool ends = part.finish != v1::FINISH_REASON_UNSPECIFIED;
  const bool first = !std::exchange(progress.begun, true);
  ToolCallParser::Found found = progress.parser->Append(part.text, ends);
  const bool says_something = !found.text.empty() || !found.calls.empty();
  if (!says_something && !ends && !first && part.log_probs.empty()) return;
  Json choice = {{"index", index}};
  if (generation_.streams) {
    choice["delta"] = Delta(std::move(found), first, progress);
  } else {
    choice["message"] = WholeMessage(std::move(found), progress);
  }
  choice["logprobs"] = nullptr;
  if (generation_.log_probs) {
    choice["logprobs"] = {
        {"content", ChatLogProbs(part.log_probs, tokenizer())},
        {"refusal", nullptr}};
  }
  choice["finish_reason"] = FinishReasonJson(part.finish);
  if (progress.calls > 0 && choice["finish_reason"] == Json("stop")) {
    choice["finish_reason"] = "tool_calls";
  }
  choices.push_back(std::move(choice));
}

Json ChatTranslator::WholeMessage(ToolCallParser::Found found,
                                  Progress& progress) {
  Json message = {{"role", "assistant"},
                  {"content", std::move(found.text)},
                  {"refusal", nullptr}};
  if (found.calls.empty()) return message;
  if (message["content"] == Json("")) message["content"] = nullptr;
  for (const ToolCall& call : found.calls) {
    message["tool_calls"].push_back(ToolCallJson(call, progress));
  }
  return message;
}

Json ChatTranslator::Delta(ToolCallParser::Found found, bool first,
                           Progress& progress) {
  Json delta = Json::object();
  if (first) delta = {{"role", "assistant"}, {"content", ""}};
  if (!found.text.empty()) delta["content"] = std::move(found.text);
  for (const ToolCall& call : found.calls) {
    const int index = progress.calls;
    Json json = {{"index", index}};
    json.update(ToolCallJson(call, progress));
    delta["tool_calls"].push_back(std::move(json));
  }
  return delta;
}

// Templates of Mistral take ids of nine letters and digits only.
Json ChatTranslator::ToolCallJson(const ToolCall& call, Progress& progress) {
  ++progress.calls;
  const std::string unique = absl::StrCat(id_, "_", calls_++);
  const std::string id =
      short_ids_ ? absl::StrCat(absl::Hex(absl::Hash<std::string>()(unique),
                                          absl::kZeroPad16))
                       .substr(0, 9)
                 : absl::StrCat("call_", unique);
  return {{"id", id},
          {"type", "function"},
          {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

}  // namespace

std::unique_ptr<HttpTranslator> NewChatTranslator() {
  return std::make_unique<ChatTranslator>();
}

std::vector<FieldHelp> ChatFieldList() {
  std::vector<FieldHelp> all = Describe<ChatFields>(kChatFields);
  const std::vector<FieldHelp> shared = Describe(GenerationFields());
  all.insert(all.end(), shared.begin(), shared.end());
  return all;
}

}  // namespace attend
