// The fields of chat: what they are, and what becomes of them.

#include "server/openai/chat_fields.h"

#include <vector>

#include "engine/tensor/status_macros.h"
#include "server/openai/messages.h"
#include "server/openai/neutral_fields.h"
#include "server/openai/openai_api.h"

namespace attend {
namespace {

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
       if (!to.tools.tools.empty()) to.variables["tools"] = value.json();
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

}  // namespace

absl::Span<const JsonField<ChatFields>> ChatOwnFields() { return kChatFields; }

std::vector<FieldHelp> ChatFieldList() {
  std::vector<FieldHelp> all = Describe<ChatFields>(kChatFields);
  const std::vector<FieldHelp> shared = Describe(GenerationFields());
  all.insert(all.end(), shared.begin(), shared.end());
  return all;
}

}  // namespace attend
