#ifndef ATTEND_SERVER_OPENAI_FUNCTION_GRAMMAR_H_
#define ATTEND_SERVER_OPENAI_FUNCTION_GRAMMAR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/openai/tools.h"

namespace attend {

// The rules, in Lark, of `function`: a call of one of `tools` as
// <function=NAME> up to </function>. Strict functions have parameters as their
// schema allows, in its order: <parameter=NAME>, a line with the value, which
// is JSON unless the schema says that it is a text, and </parameter>.
// INVALID_ARGUMENT: a parameter of a strict function has a text that cannot be
// held.
absl::StatusOr<std::string> FunctionRules(const std::vector<Tool>& tools);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_FUNCTION_GRAMMAR_H_
