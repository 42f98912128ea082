#include "engine/tokenizer/chat/chat_json.h"

#include <cstdint>
#include <deque>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;  // templates write objects in their order

// The reasoning of a message has three names. Templates read the first or the
// second: sets both.
void NameReasoning(Json& message) {
  for (const char* name : {"reasoning_content", "thinking", "reasoning"}) {
    if (!message.contains(name)) continue;
    Json reasoning = message[name];
    Json named = Json::object({{"thinking", reasoning}});
    named.update(message);
    named["reasoning_content"] = std::move(reasoning);
    message = std::move(named);
    return;
  }
}

// Nine letters and digits; of another id always the same ones, in every process
// (FNV-1a).
std::string ShortId(const std::string& id) {
  if (id.size() == 9 && absl::c_all_of(id, absl::ascii_isalnum)) return id;
  uint64_t hash = 14695981039346656037u;
  for (const char c : id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16)).substr(0, 9);
}

}  // namespace

absl::Status CheckChatText(absl::string_view name, absl::string_view text) {
  const size_t invalid = FindInvalidUtf8(text);
  if (invalid == absl::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is not UTF-8 at byte ", invalid));
}

absl::StatusOr<Json> ParseChatObject(absl::string_view name,
                                     absl::string_view text) {
  if (text.empty()) return Json::object();
  return ParseOrderedJsonObject(name, text);
}

absl::StatusOr<Json> MessageJson(const ChatMessage& message, size_t index) {
  const std::string name = absl::StrCat("messages[", index, "]");
  RETURN_IF_ERROR(CheckChatText(name + ".role", message.role));
  RETURN_IF_ERROR(CheckChatText(name + ".content", message.content));
  ASSIGN_OR_RETURN(const Json fields,
                   ParseChatObject(name + ".fields", message.fields));
  Json json = {{"role", message.role}, {"content", message.content}};
  json.update(fields);
  for (auto field = json.begin(); field != json.end();) {
    field = field->is_null() ? json.erase(field) : std::next(field);
  }
  NameReasoning(json);
  return json;
}

bool WrapArguments(Json& messages) {
  bool any = false;
  for (Json& message : messages) {
    if (!message.contains("tool_calls") || !message["tool_calls"].is_array()) {
      continue;
    }
    for (Json& call : message["tool_calls"]) {
      Json* const function = call.is_object() && call.contains("function")
                                 ? &call["function"]
                                 : &call;
      if (!function->is_object() || !function->contains("arguments")) continue;
      Json& arguments = (*function)["arguments"];
      if (!arguments.is_string()) continue;
      Json text = std::exchange(arguments, Json::object());
      arguments["text"] = std::move(text);
      any = true;
    }
  }
  return any;
}

bool ShortenIds(Json& messages) {
  bool any = false;
  std::deque<std::string> unanswered;
  const auto set = [&](Json& object, const char* key, const std::string& id) {
    Json shortened = ShortId(id);
    any |= !object.contains(key) || object[key] != shortened;
    object[key] = std::move(shortened);
  };
  int calls = 0;
  for (Json& message : messages) {
    if (message.contains("tool_calls") && message["tool_calls"].is_array()) {
      for (Json& call : message["tool_calls"]) {
        if (!call.is_object()) continue;
        const Json id = call.value("id", Json(absl::StrCat(++calls)));
        if (!id.is_string()) continue;
        unanswered.push_back(id.get<std::string>());
        set(call, "id", unanswered.back());
      }
    } else if (message.value("role", "") == "tool") {
      // Answers without an id are in the order of the calls.
      std::string next = unanswered.empty() ? "" : unanswered.front();
      if (!unanswered.empty()) unanswered.pop_front();
      const Json id = message.value("tool_call_id", Json(std::move(next)));
      if (id.is_string()) set(message, "tool_call_id", id.get<std::string>());
    }
  }
  return any;
}

}  // namespace attend
