#ifndef ATTEND_SERVER_OPENAI_CALL_SYNTAX_H_
#define ATTEND_SERVER_OPENAI_CALL_SYNTAX_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// How models write single calls of functions.

struct ToolCall {
  std::string name;
  std::string arguments;  // a JSON object as text
};

// JSON without the spaces between its parts. Numbers keep their digits, which a
// parser would round.
std::string WithoutSpaces(absl::string_view json);

// The length of the JSON object at the beginning of `text`; 0: there is none.
size_t ObjectLength(absl::string_view text);

// The call that a JSON object {"name", "arguments"} or {"name", "parameters"}
// describes ("tool_name" in Cohere's models); none: `text` is no such object.
std::optional<ToolCall> ParseCall(absl::string_view text);

// The calls of a JSON list of such objects; none, if it is something else.
std::vector<ToolCall> ParseCallList(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_CALL_SYNTAX_H_
