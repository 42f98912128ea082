#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_TEMPLATE_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_TEMPLATE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/tokenizer/chat/template_forms.h"
#include "engine/tokenizer/chat/thought_marks.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// One turn of a conversation.
struct ChatMessage {
  // "system", "user", "assistant", or another role that the template knows.
  std::string role;
  std::string content;
  // More fields of the message, as a JSON object: {"tool_calls": [...]}. A
  // field "content" replaces `content`. Empty: no more fields.
  std::string fields;
};

struct Chat {
  std::vector<ChatMessage> messages;
  // The text ends with the beginning of an answer of the assistant.
  bool add_generation_prompt = true;
  // More variables of the template, as a JSON object: {"tools": [...],
  // "enable_thinking": false}. Empty: none.
  std::string variables;
};

// A model's chat template, which makes one text of a conversation. The text
// contains special tokens; no more are to be added when it is encoded. The
// language of templates is Jinja, as in transformers 5.23; rust/hf_chat.h lists
// the differences. Templates are rendered by Sandbox::Shared(). Const
// after Load(); any thread may use it.
//
// A template of no use, as one that does not compile, is no error of a model:
// all but conversations works without it. Render() says what is wrong.
class ChatTemplate {
 public:
  // Loads chat_template.jinja of a checkpoint's directory, and the templates in
  // additional_chat_templates; if there is no such file, chat_template of
  // tokenizer_config.json. Null if there is neither.
  static absl::StatusOr<std::unique_ptr<ChatTemplate>> Load(
      const std::string& directory);
  // The same of templates that no directory has; null if there are none.
  struct Named {
    std::string name;  // "default", "tool_use"
    std::string file;  // for errors, as the next
    std::string key;   // of the template in the file
    std::string source;
  };
  static absl::StatusOr<std::unique_ptr<ChatTemplate>> Create(
      const std::vector<Named>& templates, const HfConfig& config);

  // One of no use: `refusal` says why.
  static std::unique_ptr<ChatTemplate> Refused(absl::Status refusal);

  // Returns true if one of the templates has this text in its source.
  bool Mentions(absl::string_view text) const;
  // OK, or why conversations cannot be rendered. Names the file and the line.
  absl::Status refusal() const;
  // OK, refusal(), or why conversations with tools lose something: their
  // template is of no use, or leaves out the tools that it mentions.
  absl::Status problem() const;
  // Returns true if the template shows tools to its model.
  bool takes_tools() const;
  // The marks of thoughts, by the first template that has some.
  ThoughtMarks thought_marks() const;

  // The text of a conversation, by the template "tool_use" if `chat` has tools
  // and there is such a template, else by "default". `now` is the date for
  // templates that ask for it. Errors:
  // * INVALID_ARGUMENT if there is no message, or if fields or variables are
  //   not a JSON object;
  // * refusal();
  // * INVALID_ARGUMENT with the name of the template's file, but not its
  //   directory, if the template raises an error, cannot be rendered, or
  //   exceeds a limit of Sandbox;
  // * CANCELLED if ended() is true, which is asked again and again meanwhile.
  absl::StatusOr<std::string> Render(
      const Chat& chat, absl::Time now,
      absl::FunctionRef<bool()> ended = [] { return false; }) const;

 private:
  struct Template {
    std::string place;  // the file's name and the key, for errors
    std::string source;
    absl::Status refusal;
    TemplateForms forms;
    ThoughtMarks thought;
  };

  ChatTemplate() = default;
  absl::Status Add(const Named& named);
  absl::Status AddAll(const std::string& directory);
  // Finds the forms of the templates, once the tokens are known.
  void FindForms();
  absl::Status AddFiles(const std::string& directory);
  absl::Status AddFields(const std::string& directory);
  // The tokens that templates may name.
  void SetTokens(const HfConfig& config);
  absl::StatusOr<const Template*> Choose(bool has_tools) const;

  std::map<std::string, Template> templates_;                // by name
  std::vector<std::pair<std::string, std::string>> tokens_;  // "bos_token", ...
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_TEMPLATE_H_
