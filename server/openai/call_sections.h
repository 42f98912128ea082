#ifndef ATTEND_SERVER_OPENAI_CALL_SECTIONS_H_
#define ATTEND_SERVER_OPENAI_CALL_SECTIONS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "server/openai/call_syntax.h"

namespace attend {

// The calls of a section, each between marks of its own and with a mark before
// its arguments, which are a JSON object:
// * DeepSeek-R1 and -V3 write "function", the mark, the name and a block of
//   code with the arguments; DeepSeek-V3.1 the name and the arguments;
// * Kimi-K2 writes functions.NAME:INDEX and the arguments.
// None: the text is something else.
std::vector<ToolCall> ParseSection(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_CALL_SECTIONS_H_
