#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_TEMPLATE_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_TEMPLATE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/tokenizer/rust/hf_chat.h"

namespace attend {

// One turn of a conversation.
struct ChatMessage {
  std::string role;  // "system", "user", "assistant" or what the template knows
  std::string content;
  // More fields of the message, as a json object: {"tool_calls": [...]}. One
  // that is named content replaces the one above. Empty: none.
  std::string fields;
};

struct Chat {
  std::vector<ChatMessage> messages;
  // Ends with what an answer of the assistant begins with.
  bool add_generation_prompt = true;
  // More of what the template may name, as a json object: {"tools": [...],
  // "enable_thinking": false}. Empty: none.
  std::string variables;
};

// A model's chat template: what makes one text of a conversation. The text is
// to be encoded without adding special tokens: it has them. Jinja as
// transformers 5.23 has it; rust/hf_chat.h says what is bounded. Const after
// Load(); any thread.
class ChatTemplate {
 public:
  // Of a checkpoint's directory: chat_template.jinja (and further ones in
  // additional_chat_templates), else chat_template of tokenizer_config.json.
  // Null where neither is there. INVALID_ARGUMENT names the file and the line.
  static absl::StatusOr<std::unique_ptr<ChatTemplate>> Load(
      const std::string& directory);

  // The template "default", or "tool_use" where there is one and `chat` has
  // tools. `now` is what a template that asks for the date gets.
  // INVALID_ARGUMENT: what the template raises, or cannot do, with file and
  // line; no message; fields or variables that are not a json object.
  absl::StatusOr<std::string> Render(const Chat& chat, absl::Time now) const;

 private:
  struct Free {
    void operator()(HfChat* chat) const { hf_chat_free(chat); }
  };
  struct Compiled {
    std::string path;  // where it is from, for errors
    std::unique_ptr<HfChat, Free> library;
  };

  ChatTemplate() = default;
  absl::Status Add(const std::string& name, const std::string& path,
                   absl::string_view source);
  absl::Status AddFiles(const std::string& directory);
  absl::Status AddFields(const std::string& directory);
  absl::StatusOr<const Compiled*> Choose(bool has_tools) const;

  std::map<std::string, Compiled> templates_;                // by name
  std::vector<std::pair<std::string, std::string>> tokens_;  // "bos_token", ...
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_TEMPLATE_H_
