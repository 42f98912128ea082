#include "server/openai/call_syntax.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "server/http_call/json_value.h"

namespace attend {

size_t ObjectLength(absl::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
    if (depth == 0) return 0;
  }
  return 0;
}

std::string WithoutSpaces(absl::string_view json) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (in_string && json[i] == '\\') {
      out += json[i++];
    } else if (json[i] == '"') {
      in_string = !in_string;
    }
    if (in_string || !absl::ascii_isspace(json[i])) out += json[i];
  }
  return out;
}

namespace {

// The object that is the member `key` of the object `text`, without spaces.
// Empty: the key is written with escapes.
std::string ObjectMember(absl::string_view text, absl::string_view key) {
  const std::string object = WithoutSpaces(text);
  const std::string begin = absl::StrCat("\"", key, "\":");
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < object.size(); ++i) {
    const char c = object[i];
    const auto rest = absl::string_view(object).substr(i);
    if (depth == 1 && (object[i - 1] == '{' || object[i - 1] == ',') &&
        !in_string && absl::StartsWith(rest, begin)) {
      const auto value = rest.substr(begin.size());
      return std::string(value.substr(0, ObjectLength(value)));
    }
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    }
  }
  return {};
}

// The call that an object describes, `text` as it is written; none: it
// describes none.
std::optional<ToolCall> CallOf(const Json& json, absl::string_view text) {
  if (!json.is_object()) return std::nullopt;
  const auto name = json.find(json.contains("name") ? "name" : "tool_name");
  if (name == json.end() || !name->is_string()) return std::nullopt;
  ToolCall call{.name = name->get<std::string>(), .arguments = "{}"};
  for (const char* key : {"arguments", "parameters"}) {
    if (!json.contains(key)) continue;
    const Json& arguments = json[key];
    if (arguments.is_object()) {
      call.arguments = ObjectMember(text, key);
      if (call.arguments.empty()) call.arguments = DumpJson(arguments);
    } else if (arguments.is_string()) {
      call.arguments = arguments.get<std::string>();
      if (!ParseOrderedJsonObject("", call.arguments).ok()) return std::nullopt;
    } else if (!arguments.is_null()) {
      return std::nullopt;
    }
    return call;
  }
  return call;
}

}  // namespace

std::optional<ToolCall> ParseCall(absl::string_view text) {
  const auto json = ParseOrderedJsonObject("", text);
  return json.ok() ? CallOf(*json, text) : std::nullopt;
}

std::vector<ToolCall> ParseCallList(absl::string_view text) {
  const auto list =
      ParseOrderedJsonObject("", absl::StrCat("{\"calls\":", text, "}"));
  if (!list.ok() || !(*list)["calls"].is_array()) return {};
  std::vector<ToolCall> calls;
  for (const Json& entry : (*list)["calls"]) {
    // Entries are objects, or what describes no call.
    text.remove_prefix(std::min(text.find('{'), text.size()));
    const size_t length = ObjectLength(text);
    auto call = CallOf(entry, text.substr(0, length));
    if (!call) return {};
    calls.push_back(*std::move(call));
    text.remove_prefix(length);
  }
  return calls;
}

}  // namespace attend
