// POST /v1/chat/completions.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/openai/call_grammar.h"
#include "server/openai/chat_fields.h"
#include "server/openai/constraint_fields.h"
#include "server/openai/generating_translator.h"
#include "server/openai/openai_api.h"
#include "server/openai/thought_splitter.h"
#include "server/openai/tool_calls.h"
#include "server/openai/tools.h"

namespace attend {
namespace {

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
    std::optional<ThoughtSplitter> thoughts;
    std::optional<ToolCallParser> parser;
  };

  absl::Status FinishTools(ChatFields& fields);
  void AddChoice(const ChoicePart& part, Json& choices) override;
  // What is new of a choice.
  struct News {
    std::string reasoning;
    ToolCallParser::Found found;
    bool empty() const {
      return reasoning.empty() && found.text.empty() && found.calls.empty();
    }
  };
  News Read(const ChoicePart& part, Progress& progress) const;
  Json WholeMessage(News news, Progress& progress);
  Json Delta(News news, bool first, Progress& progress);
  Json ToolCallJson(const ToolCall& call, Progress& progress);

  const CallContext* context_ = nullptr;  // from Read() on
  std::string id_;                        // of the call
  ToolFormat format_ = ToolFormat::kNone;
  bool short_ids_ = false;   // of tool calls
  bool parallel_ = true;     // there may be several calls
  std::vector<Tool> tools_;  // those that the model may call
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
      ReadGeneration<ChatFields>(body, ChatOwnFields(), generation_, fields));
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
  context_ = &context;
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
  const ToolFormat taught =
      model().chat == nullptr ? ToolFormat::kNone : ToolFormatOf(*model().chat);
  if (tools.tools.empty() || tools.choice == ToolChoice::kNone) {
    fields.variables.erase("tools");
    // Texts have a recipient even so.
    if (taught == ToolFormat::kRecipients) format_ = taught;
    return absl::OkStatus();
  }
  parallel_ = tools.parallel;
  short_ids_ = taught == ToolFormat::kMistral;
  if (tools.must_call()) {
    // The text is calls only, so it never has the form of an answer.
    if (absl::StartsWith(generation_.constraint_field, "response_format")) {
      generation_.params().clear_constraint();
      generation_.constraint_field.clear();
    }
    const bool named = tools.choice == ToolChoice::kNamed;
    format_ = named ? ToolFormat::kArguments : ToolFormat::kCalls;
    if (named) tools_ = {*NamedTool(tools)};
    return ConstrainToJson("tools", CallSchema(tools), generation_);
  }
  format_ = taught;
  if (format_ == ToolFormat::kNone) {
    return FieldError(
        "tools", absl::StrCat("are given, but the chat template of model '",
                              model().info().name, "' knows no tools"));
  }
  tools_ = tools.tools;
  ASSIGN_OR_RETURN(const std::string answer, AnswerRule(generation_));
  ASSIGN_OR_RETURN(const std::string grammar,
                   CallGrammar(tools, format_, answer));
  if (grammar.empty()) return absl::OkStatus();
  if (answer.empty()) return ConstrainToGrammar("tools", grammar, generation_);
  generation_.params().mutable_constraint()->set_lark(grammar);
  return absl::OkStatus();
}

void ChatTranslator::AddChoice(const ChoicePart& part, Json& choices) {
  const size_t index = IndexOf(part);
  if (progress_.size() <= index) progress_.resize(index + 1);
  Progress& progress = progress_[index];
  const bool ends = part.finish != v1::FINISH_REASON_UNSPECIFIED;
  const bool first = !std::exchange(progress.begun, true);
  News news = Read(part, progress);
  if (news.empty() && !ends && !first && part.log_probs.empty()) return;
  Json choice = {{"index", index}};
  if (generation_.streams) {
    choice["delta"] = Delta(std::move(news), first, progress);
  } else {
    choice["message"] = WholeMessage(std::move(news), progress);
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

// Calls in a thought are none: only the answer is looked through.
ChatTranslator::News ChatTranslator::Read(const ChoicePart& part,
                                          Progress& progress) const {
  if (!progress.parser) {
    progress.thoughts.emplace(context_->thought());
    progress.parser.emplace(format_, tools_);
  }
  const bool ends = part.finish != v1::FINISH_REASON_UNSPECIFIED;
  ThoughtSplitter::Parts parts = progress.thoughts->Append(part.text, ends);
  News news = {.reasoning = std::move(parts.reasoning),
               .found = progress.parser->Append(parts.answer, ends)};
  std::vector<ToolCall>& calls = news.found.calls;
  const size_t most = progress.calls > 0 ? 0 : 1;
  if (!parallel_ && calls.size() > most) calls.resize(most);
  return news;
}

Json ChatTranslator::WholeMessage(News news, Progress& progress) {
  ToolCallParser::Found& found = news.found;
  Json message = {{"role", "assistant"},
                  {"content", std::move(found.text)},
                  {"refusal", nullptr}};
  if (!news.reasoning.empty()) {
    message["reasoning_content"] = std::move(news.reasoning);
  }
  if (found.calls.empty()) return message;
  if (message["content"] == Json("")) message["content"] = nullptr;
  for (const ToolCall& call : found.calls) {
    message["tool_calls"].push_back(ToolCallJson(call, progress));
  }
  return message;
}

Json ChatTranslator::Delta(News news, bool first, Progress& progress) {
  ToolCallParser::Found& found = news.found;
  Json delta = Json::object();
  if (first) delta = {{"role", "assistant"}, {"content", ""}};
  if (!news.reasoning.empty()) {
    delta["reasoning_content"] = std::move(news.reasoning);
  }
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

}  // namespace attend
