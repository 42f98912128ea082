#ifndef ATTEND_SERVER_OPENAI_TOOL_CALLS_H_
#define ATTEND_SERVER_OPENAI_TOOL_CALLS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "server/openai/call_syntax.h"
#include "server/openai/call_tags.h"
#include "server/openai/tools.h"

namespace attend {

// How a model writes that it calls functions.
enum class ToolFormat {
  kNone,      // it does not
  kTagged,    // <tool_call>{"name", "arguments"}</tool_call>: Hermes, Qwen
  kFunction,  // <function=name>...</function>: Llama 3.1; or in other tags
  kTaggedFunction,  // the same in <tool_call>: Qwen3-Coder
  kTaggedKeys,      // <tool_call>name<arg_key>...</tool_call>: GLM-4.5
  kMistral,         // [{"name", "arguments"}] or name{...}
  kRecipients,  // >>>name, a line end, and arguments; or >>>all: Functionary
  kObjects,     // {"name", "parameters"} or a list as the whole text: Llama 3,
                // Phi-4
  kArguments,   // the arguments of the one function that it has to call
  kCalls        // a list of {"name", "arguments"}, if it has to call some
};

// The format that a chat template teaches its model. kNone if the template
// knows no tools.
ToolFormat ToolFormatOf(const ChatTemplate& chat);

// Finds calls in the text of one choice while it grows. What looks like a call
// and is none is text. Not thread-safe.
class ToolCallParser {
 public:
  // `tools`: the functions that the model may call. Of kArguments: the one that
  // it has to.
  ToolCallParser(ToolFormat format, std::vector<Tool> tools)
      : format_(format), tools_(std::move(tools)) {}

  struct Found {
    std::string text;  // what is no call
    std::vector<ToolCall> calls;
  };
  // Takes the next text; `last`: there will be no more. What may be the
  // beginning of a call is held back.
  Found Append(absl::string_view text, bool last);

 private:
  // Moves to the next call in tags. False: there is none yet.
  bool FindOpen(Found& found);
  void FindTagged(bool last, Found& found);
  std::vector<ToolCall> ParseTagged(absl::string_view inner) const;
  // Formats in which all of the text is calls, or nothing is.
  void FindWhole(bool last, Found& found);
  bool MayBeCalls() const;
  // Text, then calls up to the end.
  void FindMistral(bool last, Found& found);
  void FindRecipients(bool last, Found& found);
  // The calls of a JSON list; none, if one is of a function that there is not.
  std::vector<ToolCall> KnownCalls(absl::string_view list) const;
  std::vector<ToolCall> ParseObjects() const;
  bool Knows(absl::string_view name) const;

  ToolFormat format_;
  const std::vector<Tool> tools_;
  std::string held_;
  const CallTags* inside_ = nullptr;  // after the opening tag of a call
  std::string space_;                 // before it
  bool found_any_ = false;
  bool text_begun_ = false;  // of FindMistral() and FindRecipients()
};

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_TOOL_CALLS_H_
