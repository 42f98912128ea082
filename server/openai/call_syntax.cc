#include "server/openai/call_syntax.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
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

namespace {

// JSON without the spaces between its parts. Numbers keep their digits, which a
// parser would round.
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
  if (!json.is_object() || !json.contains("name") ||
      !json["name"].is_string()) {
    return std::nullopt;
  }
  ToolCall call{.name = json["name"].get<std::string>(), .arguments = "{}"};
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

// The type that the schema of `function` gives a parameter; "" if none does.
std::string TypeOf(const std::vector<Tool>& tools, absl::string_view function,
                   const std::string& parameter) {
  const auto found =
      std::find_if(tools.begin(), tools.end(),
                   [&](const Tool& tool) { return tool.name == function; });
  if (found == tools.end()) return "";
  const auto properties = found->parameters.find("properties");
  if (properties == found->parameters.end() || !properties->is_object()) {
    return "";
  }
  const auto schema = properties->find(parameter);
  if (schema == properties->end() || !schema->is_object()) return "";
  const auto type = schema->find("type");
  return type != schema->end() && type->is_string() ? type->get<std::string>()
                                                    : "";
}

// A value as its type reads it. Where the type is not known, and where the text
// is none of the type, JSON is JSON and all else a text.
Json ParameterValue(const std::string& type, const std::string& text) {
  if (type == "string") return text;
  std::string json(absl::StripAsciiWhitespace(text));
  // Python's words.
  if (json == "True" || json == "False" || json == "None") {
    json = json == "None" ? "null" : absl::AsciiStrToLower(json);
  }
  const auto parsed =
      ParseOrderedJsonObject("", absl::StrCat("{\"value\":", json, "}"));
  if (!parsed.ok() || parsed->size() != 1) return text;
  return (*parsed)["value"];
}

// One line end after the opening tag, and one before the closing tag, belong to
// the tags.
std::string WithoutLineEnds(absl::string_view text) {
  absl::ConsumePrefix(&text, "\n");
  absl::ConsumeSuffix(&text, "\n");
  return std::string(text);
}

// The arguments <parameter=NAME>VALUE</parameter>...; none: something else.
std::optional<Json> ParseParameters(absl::string_view text,
                                    absl::string_view function,
                                    const std::vector<Tool>& tools) {
  constexpr absl::string_view kParameter = "<parameter=";
  constexpr absl::string_view kEnd = "</parameter>";
  Json arguments = Json::object();
  text = absl::StripAsciiWhitespace(text);
  while (!text.empty()) {
    if (!absl::ConsumePrefix(&text, kParameter)) return std::nullopt;
    const size_t name_end = text.find('>');
    if (name_end == text.npos) return std::nullopt;
    const std::string name(
        absl::StripAsciiWhitespace(text.substr(0, name_end)));
    text.remove_prefix(name_end + 1);
    const size_t end = std::min(text.find(kEnd), text.find(kParameter));
    const std::string value = WithoutLineEnds(text.substr(0, end));
    arguments[name] = ParameterValue(TypeOf(tools, function, name), value);
    text.remove_prefix(std::min(end, text.size()));
    absl::ConsumePrefix(&text, kEnd);
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return arguments;
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

std::optional<ToolCall> ParseFunctionCall(absl::string_view text,
                                          const std::vector<Tool>& tools) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "<function=")) return std::nullopt;
  const size_t name_end = text.find('>');
  if (name_end == text.npos) return std::nullopt;
  const absl::string_view name =
      absl::StripAsciiWhitespace(text.substr(0, name_end));
  text.remove_prefix(name_end + 1);
  // Models that are cut leave out the end.
  absl::ConsumeSuffix(&text, "</function>");
  text = absl::StripAsciiWhitespace(text);
  if (name.empty()) return std::nullopt;
  if (absl::StartsWith(text, "{")) {
    if (!ParseOrderedJsonObject("", text).ok()) return std::nullopt;
    return ToolCall{std::string(name), WithoutSpaces(text)};
  }
  const auto arguments = ParseParameters(text, name, tools);
  if (!arguments) return std::nullopt;
  return ToolCall{std::string(name), DumpJson(*arguments)};
}

}  // namespace attend
