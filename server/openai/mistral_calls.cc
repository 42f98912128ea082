#include "server/openai/mistral_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "engine/json/json_parse.h"

namespace attend {
namespace {

constexpr absl::string_view kToolCalls = "[TOOL_CALLS]";
constexpr absl::string_view kCallId = "[CALL_ID]";
constexpr absl::string_view kArgs = "[ARGS]";
constexpr size_t kIdSize = 9;

// Tells whether one of two texts begins with the other.
bool MayBegin(absl::string_view text, absl::string_view with) {
  return absl::StartsWith(text, with) || absl::StartsWith(with, text);
}

size_t IdSize(absl::string_view text) {
  const auto end = std::find_if_not(
      text.begin(), text.begin() + std::min(text.size(), kIdSize),
      [](char c) { return absl::ascii_isalnum(c); });
  return end - text.begin();
}

// Tells whether `text`, after the name of a function, may lead to arguments.
bool MayLeadToArguments(absl::string_view text) {
  if (text.empty() || text[0] == '{' || MayBegin(text, kArgs) ||
      MayBegin(text, kCallId)) {
    return true;
  }
  const size_t id = IdSize(text);
  text.remove_prefix(id);
  if (text.empty()) return true;
  return id == kIdSize && (text[0] == '{' || MayBegin(text, kArgs));
}

bool MayBeCall(absl::string_view text, const std::vector<Tool>& tools) {
  if (MayBegin(text, kToolCalls)) return true;
  return std::any_of(tools.begin(), tools.end(), [&](const Tool& tool) {
    return absl::StartsWith(tool.name, text) ||
           (absl::StartsWith(text, tool.name) &&
            MayLeadToArguments(text.substr(tool.name.size())));
  });
}

// Takes what is between a name and an object off; false: there is more.
bool ConsumeToArguments(absl::string_view& text) {
  const bool marked = absl::ConsumePrefix(&text, kCallId);
  if (marked || !absl::StartsWith(text, kArgs)) {
    absl::string_view after = text;
    const size_t id = IdSize(after);
    after.remove_prefix(id);
    if (id == kIdSize) text = after;
  }
  absl::ConsumePrefix(&text, kArgs);
  text = absl::StripLeadingAsciiWhitespace(text);
  return absl::StartsWith(text, "{");
}

// Takes the name of a function off, and what is between it and its arguments.
// Null: there is none.
const Tool* ConsumeName(const std::vector<Tool>& tools,
                        absl::string_view& text) {
  for (const Tool& tool : tools) {
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, tool.name) || !ConsumeToArguments(rest)) {
      continue;
    }
    text = rest;
    return &tool;
  }
  return nullptr;
}

std::vector<ToolCall> ParseNamed(absl::string_view text,
                                 const std::vector<Tool>& tools) {
  std::vector<ToolCall> calls;
  while (!text.empty()) {
    absl::ConsumePrefix(&text, kToolCalls);
    text = absl::StripLeadingAsciiWhitespace(text);
    const Tool* const tool = ConsumeName(tools, text);
    if (tool == nullptr) return {};
    const std::string arguments(text.substr(0, ObjectLength(text)));
    if (!ParseOrderedJsonObject("", arguments).ok()) return {};
    calls.push_back({tool->name, arguments});
    text.remove_prefix(arguments.size());
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return calls;
}

}  // namespace

size_t MistralBegin(absl::string_view text, bool whole,
                    const std::vector<Tool>& tools) {
  size_t space = 0;  // where the white space before `i` begins
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::ascii_isspace(text[i])) continue;
    const bool list = whole && space == 0 && text[i] == '[';
    if (list || MayBeCall(text.substr(i), tools)) return space;
    space = i + 1;
  }
  return space;
}

std::vector<ToolCall> ParseMistral(absl::string_view text,
                                   const std::vector<Tool>& tools) {
  text = absl::StripAsciiWhitespace(text);
  absl::string_view list = text;
  absl::ConsumePrefix(&list, kToolCalls);
  list = absl::StripLeadingAsciiWhitespace(list);
  if (!absl::StartsWith(list, "[")) return ParseNamed(text, tools);
  std::vector<ToolCall> calls = ParseCallList(list);
  const bool known =
      std::all_of(calls.begin(), calls.end(), [&](const ToolCall& call) {
        return std::any_of(tools.begin(), tools.end(), [&](const Tool& tool) {
          return tool.name == call.name;
        });
      });
  return known ? calls : std::vector<ToolCall>();
}

}  // namespace attend
