#ifndef ATTEND_SERVER_OPENAI_MISTRAL_CALLS_H_
#define ATTEND_SERVER_OPENAI_MISTRAL_CALLS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/openai/call_syntax.h"
#include "server/openai/tools.h"

namespace attend {

// Calls as Mistral's models write them: up to the end of a text, and after
// [TOOL_CALLS], [CALL_ID] and [ARGS], which may be text or, as special tokens,
// nothing:
// * a list of {"name", "arguments"} (v3, v7);
// * NAME, perhaps an id of nine letters and digits, and arguments as an object
//   (v11, v13), one or several times.

// The offset in `text` where calls, or the white space before them, may begin,
// if more text comes; its size if nowhere. A list that no [TOOL_CALLS] precedes
// has to be `whole`: nothing but white space is before it.
size_t MistralBegin(absl::string_view text, bool whole,
                    const std::vector<Tool>& tools);

// The calls that are all of `text`; none: it is something else, or calls a
// function that there is not.
std::vector<ToolCall> ParseMistral(absl::string_view text,
                                   const std::vector<Tool>& tools);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_MISTRAL_CALLS_H_
