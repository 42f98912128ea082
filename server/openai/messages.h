#ifndef ATTEND_SERVER_OPENAI_MESSAGES_H_
#define ATTEND_SERVER_OPENAI_MESSAGES_H_

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "server/http_call/json_value.h"

namespace attend {

// Reads the messages of a conversation, OpenAI's list of objects.
absl::Status ReadMessages(const JsonValue& value, v1::Chat& chat);

// Reads variables of the chat template, an object, into `variables`.
absl::Status ReadTemplateVariables(const JsonValue& value, Json& variables);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_MESSAGES_H_
