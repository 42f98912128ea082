#ifndef ATTEND_SERVER_OPENAI_CHAT_FIELDS_H_
#define ATTEND_SERVER_OPENAI_CHAT_FIELDS_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "server/http_call/json_fields.h"
#include "server/openai/generation.h"
#include "server/openai/tools.h"

namespace attend {

// The fields that only chat has.
struct ChatFields {
  GenerationRequest& generation;
  v1::Chat chat = {};
  Json variables = Json::object();  // of the template
  ToolFields tools = {};
  std::optional<int64_t> top_log_probs = {};
};

absl::Span<const JsonField<ChatFields>> ChatOwnFields();

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_CHAT_FIELDS_H_
