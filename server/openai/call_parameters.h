#ifndef ATTEND_SERVER_OPENAI_CALL_PARAMETERS_H_
#define ATTEND_SERVER_OPENAI_CALL_PARAMETERS_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/openai/call_syntax.h"
#include "server/openai/tools.h"

namespace attend {

// Calls whose arguments are written one after the other as free text. What such
// a text means is said by the types in the schema of the function, of `tools`.
// None: the text is something else.

// <function=NAME>ARGUMENTS</function>: arguments are a JSON object (Llama 3.1),
// or <parameter=NAME>VALUE</parameter> one after the other (Qwen3-Coder).
std::optional<ToolCall> ParseFunctionCall(absl::string_view text,
                                          const std::vector<Tool>& tools);

// NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>... (GLM-4.5).
std::optional<ToolCall> ParseKeyedCall(absl::string_view text,
                                       const std::vector<Tool>& tools);

// <invoke name="NAME"><parameter name="KEY">VALUE</parameter>...</invoke>, one
// or several (MiniMax-M2).
std::vector<ToolCall> ParseInvocations(absl::string_view text,
                                       const std::vector<Tool>& tools);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_CALL_PARAMETERS_H_
