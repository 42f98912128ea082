#include "server/openai/messages.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_fields.h"

namespace attend {
namespace {

// What a message becomes. `more` are the fields that templates know beside role
// and content.
struct Message {
  std::string role;
  std::optional<std::string> content;
  std::string refusal;  // what a model said instead of an answer
  Json more = Json::object();
};
using MessageField = JsonField<Message>;

// {"type": "text", "text"}, or {"type": "refusal", "refusal"}: what a model of
// an earlier turn said instead of an answer.
absl::StatusOr<std::string> ReadPart(const JsonValue& part) {
  const Json& json = part.json();
  const Json type = json.is_object() ? json.value("type", Json()) : Json();
  if (type != Json("text") && type != Json("refusal")) {
    return FieldError(absl::StrCat(part.name(), ".type"),
                      "must be \"text\": the model reads nothing else");
  }
  const auto& key = type.get_ref<const std::string&>();
  if (!json.contains(key) || !json[key].is_string()) {
    return FieldError(absl::StrCat(part.name(), ".", key), "must be a string");
  }
  ASSIGN_OR_RETURN(const std::vector<JsonValue> members, part.Members());
  for (const JsonValue& member : members) {
    // Marks of prompt caches ask for nothing here.
    if (member.key() != "type" && member.key() != key &&
        member.key() != "cache_control") {
      return UnknownField(member);
    }
  }
  return json[key].get<std::string>();
}

// The texts of parts are joined by line breaks, as vLLM joins them.
absl::StatusOr<std::string> ReadParts(const JsonValue& value) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> parts, value.List());
  std::string text;
  for (const JsonValue& part : parts) {
    if (&part != &parts.front()) text += '\n';
    ASSIGN_OR_RETURN(const std::string more, ReadPart(part));
    text += more;
  }
  return text;
}

absl::Status ReadContent(const JsonValue& value, Message& to) {
  if (value.json().is_array()) {
    ASSIGN_OR_RETURN(to.content, ReadParts(value));
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(
      value.Expect(value.json().is_string(), "a string or a list of parts"));
  to.content = value.json().get<std::string>();
  return absl::OkStatus();
}

// "developer" is the newer name of "system", and templates know the older one.
absl::Status ReadRole(const JsonValue& value, Message& to) {
  ASSIGN_OR_RETURN(to.role, value.String());
  constexpr absl::string_view kRoles[] = {"system", "user", "assistant",
                                          "tool"};
  if (to.role == "developer") to.role = "system";
  return value.Expect(std::find(std::begin(kRoles), std::end(kRoles),
                                to.role) != std::end(kRoles),
                      "system, developer, user, assistant or tool");
}

// Templates read arguments as an object; OpenAI's API has them as text. Models
// leave them out where there are none, and write texts that are cut or no
// object: the conversation has to go on after these, too, so they stay texts.
absl::StatusOr<Json> ReadArguments(const JsonValue& value) {
  const Json& json = value.json();
  if (json.is_null()) return Json::object();
  if (json.is_object()) return json;
  RETURN_IF_ERROR(value.Expect(json.is_string(), "a JSON object as text"));
  const auto& text = json.get_ref<const std::string&>();
  if (absl::StripAsciiWhitespace(text).empty()) return Json::object();
  auto arguments = ParseOrderedJsonObject(value.name(), text);
  if (arguments.ok()) return *std::move(arguments);
  return absl::StripAsciiWhitespace(text) == "null" ? Json::object() : json;
}

absl::StatusOr<Json> ReadFunction(const JsonValue& value) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> members, value.Members());
  Json function = Json::object();
  for (const JsonValue& member : members) {
    if (member.key() == "name") {
      ASSIGN_OR_RETURN(function["name"], member.String());
    } else if (member.key() == "arguments") {
      ASSIGN_OR_RETURN(function["arguments"], ReadArguments(member));
    } else if (member.key() != "parsed_arguments") {
      return UnknownField(member);
    }
  }
  if (!function.contains("name")) {
    return FieldError(value.name(), "must have a name");
  }
  if (!function.contains("arguments")) function["arguments"] = Json::object();
  return function;
}

absl::StatusOr<Json> ReadToolCall(const JsonValue& value) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> members, value.Members());
  Json call = {{"type", "function"}};
  for (const JsonValue& member : members) {
    if (member.key() == "id") {
      ASSIGN_OR_RETURN(call["id"], member.String());
    } else if (member.key() == "function") {
      ASSIGN_OR_RETURN(call["function"], ReadFunction(member));
    } else if (member.key() == "type") {
      RETURN_IF_ERROR(
          member.Expect(member.json() == Json("function"), "\"function\""));
    } else if (member.key() != "index") {
      return UnknownField(member);
    }
  }
  if (!call.contains("function")) {
    return FieldError(value.name(), "must have a function");
  }
  return call;
}

absl::Status ReadToolCalls(const JsonValue& value, Message& to) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, value.List());
  Json calls = Json::array();
  for (const JsonValue& entry : entries) {
    ASSIGN_OR_RETURN(Json call, ReadToolCall(entry));
    calls.push_back(std::move(call));
  }
  if (!calls.empty()) to.more["tool_calls"] = std::move(calls);
  return absl::OkStatus();
}

absl::Status ReadMore(const JsonValue& value, Message& to) {
  ASSIGN_OR_RETURN(to.more[std::string(value.key())], value.String());
  return absl::OkStatus();
}

constexpr MessageField kMessageFields[] = {
    {"role", "", "", ReadRole},
    {"content", "", "", ReadContent},
    {"tool_calls", "", "", ReadToolCalls},
    {"name", "", "", ReadMore},
    {"tool_call_id", "", "", ReadMore},
    {"reasoning_content", "", "", ReadMore},
    {"reasoning", "", "", ReadMore},
    // What answers of OpenAI and of its SDKs have beside their text.
    {"parsed", "", "",
     [](const JsonValue&, Message&) { return absl::OkStatus(); }},
    {"refusal", "", "",
     [](const JsonValue& value, Message& to) {
       ASSIGN_OR_RETURN(to.refusal, value.String());
       return absl::OkStatus();
     }},
    {"annotations", "", "",
     [](const JsonValue& value, Message&) { return value.List().status(); }},
};

}  // namespace

absl::Status ReadMessages(const JsonValue& value, v1::Chat& chat) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, value.List());
  RETURN_IF_ERROR(value.Expect(!entries.empty(), "a list that is not empty"));
  for (const JsonValue& entry : entries) {
    Message message;
    RETURN_IF_ERROR(ReadFields<Message>(entry, kMessageFields, message));
    if (message.role.empty()) {
      return FieldError(absl::StrCat(entry.name(), ".role"),
                        "is absent, must be there");
    }
    // An answer may be nothing but calls.
    if (!message.content && message.role != "assistant") {
      return FieldError(absl::StrCat(entry.name(), ".content"),
                        "is absent, must be there");
    }
    v1::ChatMessage& to = *chat.add_messages();
    to.set_role(std::move(message.role));
    to.set_content(message.content.value_or(message.refusal));
    if (!message.more.empty()) to.set_fields_json(DumpJson(message.more));
  }
  return absl::OkStatus();
}

absl::Status ReadTemplateVariables(const JsonValue& value, Json& variables) {
  RETURN_IF_ERROR(value.Expect(value.json().is_object(), "an object"));
  for (const auto& [key, variable] : value.json().items()) {
    if (key == "tools" || key == "messages" || key == "add_generation_prompt") {
      return FieldError(absl::StrCat(value.name(), ".", key),
                        "has a field of its own");
    }
    variables[key] = variable;
  }
  return absl::OkStatus();
}

}  // namespace attend
