#ifndef ATTEND_SERVER_OPENAI_CALL_SYNTAX_H_
#define ATTEND_SERVER_OPENAI_CALL_SYNTAX_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/openai/tools.h"

namespace attend {

// How models write single calls of functions.

struct ToolCall {
  std::string name;
  std::string arguments;  // a JSON object as text
};

// The length of the JSON object at the beginning of `text`; 0: there is none.
size_t ObjectLength(absl::string_view text);

// The call that a JSON object {"name", "arguments"} or {"name", "parameters"}
// describes; none: `text` is no such object.
std::optional<ToolCall> ParseCall(absl::string_view text);

// The calls of a JSON list of such objects; none, if it is something else.
std::vector<ToolCall> ParseCallList(absl::string_view text);

// The call that is written as <function=NAME>ARGUMENTS</function>: arguments
// are a JSON object (Llama 3.1), or <parameter=NAME>VALUE</parameter> one after
// the other (Qwen3-Coder). Such values are texts; what they mean is said by the
// types in the schema of the function, of `tools`. None: it is something else.
std::optional<ToolCall> ParseFunctionCall(absl::string_view text,
                                          const std::vector<Tool>& tools);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_CALL_SYNTAX_H_
