#include "server/openai/call_parameters.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/json/json_parse.h"
#include "server/http_call/json_value.h"

namespace attend {
namespace {

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

// How arguments are written: the tags around name and value.
struct ParameterTags {
  absl::string_view begin, name_end, value_begin, end;
};
constexpr ParameterTags kParameterTags = {"<parameter=", ">", "",
                                          "</parameter>"};
constexpr ParameterTags kKeyTags = {"<arg_key>", "</arg_key>", "<arg_value>",
                                    "</arg_value>"};
constexpr ParameterTags kInvokeTags = {"<parameter name=\"", "\">", "",
                                       "</parameter>"};

// The arguments that are the whole text; none: it is something else. Models
// leave out ends.
std::optional<Json> ParseParameters(absl::string_view text,
                                    const ParameterTags& tags,
                                    absl::string_view function,
                                    const std::vector<Tool>& tools) {
  Json arguments = Json::object();
  text = absl::StripAsciiWhitespace(text);
  while (!text.empty()) {
    if (!absl::ConsumePrefix(&text, tags.begin)) return std::nullopt;
    const size_t name_end = text.find(tags.name_end);
    if (name_end == text.npos) return std::nullopt;
    const std::string name(
        absl::StripAsciiWhitespace(text.substr(0, name_end)));
    text.remove_prefix(name_end + tags.name_end.size());
    if (!tags.value_begin.empty()) {
      text = absl::StripLeadingAsciiWhitespace(text);
      if (!absl::ConsumePrefix(&text, tags.value_begin)) return std::nullopt;
    }
    const size_t end = std::min(text.find(tags.end), text.find(tags.begin));
    const std::string value = WithoutLineEnds(text.substr(0, end));
    arguments[name] = ParameterValue(TypeOf(tools, function, name), value);
    text.remove_prefix(std::min(end, text.size()));
    absl::ConsumePrefix(&text, tags.end);
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return arguments;
}

std::optional<ToolCall> MakeCall(absl::string_view name,
                                 const std::optional<Json>& arguments) {
  if (name.empty() || !arguments) return std::nullopt;
  return ToolCall{std::string(name), DumpJson(*arguments)};
}

}  // namespace

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
  return MakeCall(name, ParseParameters(text, kParameterTags, name, tools));
}

std::optional<ToolCall> ParseKeyedCall(absl::string_view text,
                                       const std::vector<Tool>& tools) {
  text = absl::StripAsciiWhitespace(text);
  const size_t keys = std::min(text.find(kKeyTags.begin), text.size());
  const absl::string_view name =
      absl::StripAsciiWhitespace(text.substr(0, keys));
  // Without arguments, any word would do.
  const bool known =
      std::any_of(tools.begin(), tools.end(),
                  [&](const Tool& tool) { return tool.name == name; });
  if (!known) return std::nullopt;
  return MakeCall(name,
                  ParseParameters(text.substr(keys), kKeyTags, name, tools));
}

std::vector<ToolCall> ParseInvocations(absl::string_view text,
                                       const std::vector<Tool>& tools) {
  constexpr absl::string_view kEnd = "</invoke>";
  std::vector<ToolCall> calls;
  text = absl::StripAsciiWhitespace(text);
  while (!text.empty()) {
    if (!absl::ConsumePrefix(&text, "<invoke name=\"")) return {};
    const size_t name_end = text.find("\">");
    const size_t end = text.find(kEnd);
    if (name_end == text.npos || end == text.npos || end < name_end) return {};
    const absl::string_view name = text.substr(0, name_end);
    auto call = MakeCall(
        name, ParseParameters(text.substr(name_end + 2, end - name_end - 2),
                              kInvokeTags, name, tools));
    if (!call) return {};
    calls.push_back(*std::move(call));
    text.remove_prefix(end + kEnd.size());
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return calls;
}

}  // namespace attend
