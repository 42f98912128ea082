#ifndef ATTEND_SERVER_OPENAI_MESSAGES_H_
#define ATTEND_SERVER_OPENAI_MESSAGES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"
#include "server/http_call/json_value.h"

namespace attend {

// Reads the messages of a conversation, OpenAI's list of objects.
absl::Status ReadMessages(const JsonValue& value, v1::Chat& chat);

// Checks the functions that a model may call: OpenAI's list {"type":
// "function", "function": {"name", ...}}. Returns their names.
absl::StatusOr<std::vector<std::string>> ReadToolNames(const JsonValue& value);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_MESSAGES_H_
