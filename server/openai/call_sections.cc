#include "server/openai/call_sections.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "engine/json/json_parse.h"
#include "server/http_call/json_value.h"

namespace attend {
namespace {

struct SectionMarks {
  absl::string_view begin, arguments, end;  // of one call
};
constexpr SectionMarks kSectionMarks[] = {
    {"<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"},
    {"<|tool_call_begin|>", "<|tool_call_argument_begin|>",
     "<|tool_call_end|>"},
};

// What is before and after the mark of the arguments.
std::optional<ToolCall> ParseSectionCall(absl::string_view name,
                                         absl::string_view arguments) {
  name = absl::StripAsciiWhitespace(name);
  if (name == "function") {
    const size_t line_end = arguments.find('\n');
    if (line_end == arguments.npos) return std::nullopt;
    name = absl::StripAsciiWhitespace(arguments.substr(0, line_end));
    arguments = absl::StripAsciiWhitespace(arguments.substr(line_end));
    absl::ConsumePrefix(&arguments, "```json");
    absl::ConsumeSuffix(&arguments, "```");
  }
  if (absl::ConsumePrefix(&name, "functions.")) {
    name = name.substr(0, name.rfind(':'));
  }
  arguments = absl::StripAsciiWhitespace(arguments);
  if (name.empty() || !ParseOrderedJsonObject("", arguments).ok()) {
    return std::nullopt;
  }
  return ToolCall{std::string(name), WithoutSpaces(arguments)};
}

}  // namespace

std::vector<ToolCall> ParseSection(absl::string_view text) {
  std::vector<ToolCall> calls;
  text = absl::StripAsciiWhitespace(text);
  const auto marks = std::find_if(
      std::begin(kSectionMarks), std::end(kSectionMarks),
      [&](const SectionMarks& m) { return absl::StartsWith(text, m.begin); });
  if (marks == std::end(kSectionMarks)) return {};
  while (!text.empty()) {
    if (!absl::ConsumePrefix(&text, marks->begin)) return {};
    const size_t end = std::min(text.find(marks->end), text.size());
    const absl::string_view whole = text.substr(0, end);
    const size_t arguments = whole.find(marks->arguments);
    if (arguments == whole.npos) return {};
    auto call =
        ParseSectionCall(whole.substr(0, arguments),
                         whole.substr(arguments + marks->arguments.size()));
    if (!call) return {};
    calls.push_back(*std::move(call));
    text.remove_prefix(end);
    absl::ConsumePrefix(&text, marks->end);
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return calls;
}

}  // namespace attend
