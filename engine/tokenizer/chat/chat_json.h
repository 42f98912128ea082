#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_JSON_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/chat/chat_template.h"

namespace attend {

// A conversation as the JSON that a template gets.

// INVALID_ARGUMENT, with `name`, if the text is not UTF-8.
absl::Status CheckChatText(absl::string_view name, absl::string_view text);

// The JSON object in `text`; an empty object if `text` is empty.
absl::StatusOr<nlohmann::ordered_json> ParseChatObject(absl::string_view name,
                                                       absl::string_view text);

// The message with the fields that it has beside role and content.
absl::StatusOr<nlohmann::ordered_json> MessageJson(const ChatMessage& message,
                                                   size_t index);

// Makes objects of the arguments of calls that are texts: what a model wrote
// that was cut. False: there are none.
bool WrapArguments(nlohmann::ordered_json& messages);

// Gives calls, and the answers to them, ids of nine letters and digits, for
// conversations that began with another model: templates of Mistral's models
// take no others. False: all have such ids.
bool ShortenIds(nlohmann::ordered_json& messages);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_CHAT_JSON_H_
