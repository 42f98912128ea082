#include "server/openai/recipient_calls.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/json/json_parse.h"
#include "server/http_call/json_value.h"

namespace attend {

std::optional<ToolCall> TakeRecipientCall(const std::vector<Tool>& tools,
                                          std::string& text) {
  for (const Tool& tool : tools) {
    absl::string_view rest(text);
    if (!absl::ConsumePrefix(&rest, absl::StrCat(tool.name, "\n"))) continue;
    rest = absl::StripLeadingAsciiWhitespace(rest);
    const auto arguments = rest.substr(0, ObjectLength(rest));
    if (!ParseOrderedJsonObject("", arguments).ok()) continue;
    ToolCall call = {tool.name, WithoutSpaces(arguments)};
    rest.remove_prefix(arguments.size());
    text = std::string(absl::StripLeadingAsciiWhitespace(rest));
    return call;
  }
  return std::nullopt;
}

bool MayBeRecipient(const std::vector<Tool>& tools, absl::string_view text) {
  if (absl::StartsWith(kRecipientMark, text)) return true;
  if (text != kToAll && absl::StartsWith(kToAll, text)) return true;
  return std::any_of(tools.begin(), tools.end(), [&](const Tool& tool) {
    const std::string head = absl::StrCat(tool.name, "\n");
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, head)) return absl::StartsWith(head, text);
    rest = absl::StripLeadingAsciiWhitespace(rest);
    return rest.empty() || (rest[0] == '{' && ObjectLength(rest) == 0);
  });
}

}  // namespace attend
