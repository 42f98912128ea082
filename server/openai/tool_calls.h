#ifndef ATTEND_SERVER_OPENAI_TOOL_CALLS_H_
#define ATTEND_SERVER_OPENAI_TOOL_CALLS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/tokenizer/chat/chat_template.h"

namespace attend {

// How a model writes that it calls functions.
enum class ToolFormat {
  kNone,       // it does not
  kTagged,     // <tool_call>{"name", "arguments"}</tool_call>: Hermes, Qwen
  kMistral,    // [{"name", "arguments"}] or name{...}
  kObjects,    // {"name", "parameters"} as the whole text: Llama 3
  kArguments,  // the arguments of the one function that it has to call
  kCalls       // a list of {"name", "arguments"}, if it has to call some
};

// The format that a chat template teaches its model. kNone if the template
// knows no tools.
ToolFormat ToolFormatOf(const ChatTemplate& chat);

struct ToolCall {
  std::string name;
  std::string arguments;  // a JSON object as text
};

// Finds calls in the text of one choice while it grows. What looks like a call
// and is none is text. Not thread-safe.
class ToolCallParser {
 public:
  // `names`: the functions that the model may call. Of kArguments: the one that
  // it has to.
  ToolCallParser(ToolFormat format, std::vector<std::string> names)
      : format_(format), names_(std::move(names)) {}

  struct Found {
    std::string text;  // what is no call
    std::vector<ToolCall> calls;
  };
  // Takes the next text; `last`: there will be no more. What may be the
  // beginning of a call is held back.
  Found Append(absl::string_view text, bool last);

 private:
  void FindTagged(bool last, Found& found);
  // Formats in which all of the text is calls, or nothing is.
  void FindWhole(bool last, Found& found);
  bool MayBeCalls() const;
  std::vector<ToolCall> ParseObjects() const;
  std::vector<ToolCall> ParseMistral() const;
  bool Knows(absl::string_view name) const;

  const ToolFormat format_;
  const std::vector<std::string> names_;
  std::string held_;
  bool inside_ = false;  // behind <tool_call>
  std::string space_;    // before it
  bool found_any_ = false;
  bool plain_ = false;  // the text is no call
};

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_TOOL_CALLS_H_
