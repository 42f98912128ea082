#ifndef ATTEND_SERVER_OPENAI_TOOLS_H_
#define ATTEND_SERVER_OPENAI_TOOLS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http_call/json_value.h"

namespace attend {

// A function that the model may call.
struct Tool {
  std::string name;
  Json parameters;      // a JSON schema: what its arguments may be
  bool strict = false;  // arguments that the schema does not allow are no use
};

// Reads OpenAI's list of {"type": "function", "function": {"name", ...}}. It
// may be empty, as programs send it that have no tools at the moment.
absl::StatusOr<std::vector<Tool>> ReadTools(const JsonValue& value);

enum class ToolChoice {
  kNone,      // the model is not told of the functions
  kAuto,      // it calls what it likes
  kRequired,  // it has to call one, or several
  kNamed,     // it has to call a certain one, once
};

// What a request says of tools.
struct ToolFields {
  std::vector<Tool> tools;
  ToolChoice choice = ToolChoice::kAuto;
  std::string name;      // of kNamed
  bool parallel = true;  // several calls are allowed

  bool must_call() const {
    return choice == ToolChoice::kRequired || choice == ToolChoice::kNamed;
  }
};

// Reads the field tool_choice.
absl::Status ReadToolChoice(const JsonValue& value, ToolFields& to);

// The function that kNamed names; null: there is none.
const Tool* NamedTool(const ToolFields& fields);

// Checks how the fields go together.
absl::Status CheckTools(const ToolFields& fields);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_TOOLS_H_
