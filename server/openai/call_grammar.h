#ifndef ATTEND_SERVER_OPENAI_CALL_GRAMMAR_H_
#define ATTEND_SERVER_OPENAI_CALL_GRAMMAR_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/http_call/json_value.h"
#include "server/openai/tool_calls.h"
#include "server/openai/tools.h"

namespace attend {

// What the text of a model may be that calls functions.

// The schema of what a model writes that has to call: the arguments of the
// named function, or a list of {"name", "arguments"}. CheckTools() was OK.
Json CallSchema(const ToolFields& fields);

// The grammar, in Lark, of what a model writes that may call functions in
// `format`: any text, and calls whose arguments are such as strict functions
// want them; one at most if they may not be parallel, where the format says how
// it ends. `answer`: the rule of a
// text that calls nothing; empty: it may be any. Empty: there is nothing to
// hold. INVALID_ARGUMENT: it cannot be held in this format.
absl::StatusOr<std::string> CallGrammar(const ToolFields& fields,
                                        ToolFormat format,
                                        const std::string& answer = "");

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_CALL_GRAMMAR_H_
