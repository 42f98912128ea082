#include "server/openai/tool_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/json/json_parse.h"
#include "server/http_call/json_value.h"

namespace attend {
namespace {

constexpr absl::string_view kOpen = "<tool_call>";
constexpr absl::string_view kClose = "</tool_call>";

// The length of the JSON object at the beginning of `text`; 0: there is none.
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

std::optional<ToolCall> ParseCall(absl::string_view text) {
  const auto json = ParseOrderedJsonObject("", text);
  return json.ok() ? CallOf(*json, text) : std::nullopt;
}

// The calls of a list; none, if it is something else.
std::vector<ToolCall> ParseList(absl::string_view text) {
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

// The bytes at the end of `text` that may be the beginning of kOpen, with the
// space before it.
size_t HeldBack(absl::string_view text) {
  size_t held = 0;
  for (size_t n = std::min(text.size(), kOpen.size() - 1); n > 0; --n) {
    if (!absl::EndsWith(text, kOpen.substr(0, n))) continue;
    held = n;
    break;
  }
  while (held < text.size() &&
         absl::ascii_isspace(text[text.size() - held - 1])) {
    ++held;
  }
  return held;
}

}  // namespace

ToolFormat ToolFormatOf(const ChatTemplate& chat) {
  if (!chat.Mentions("tools")) return ToolFormat::kNone;
  if (chat.Mentions("[TOOL_CALLS]")) return ToolFormat::kMistral;
  if (chat.Mentions(kOpen)) return ToolFormat::kTagged;
  return ToolFormat::kObjects;
}

bool ToolCallParser::Knows(absl::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

ToolCallParser::Found ToolCallParser::Append(absl::string_view text,
                                             bool last) {
  Found found;
  absl::StrAppend(&held_, text);
  if (plain_ || format_ == ToolFormat::kNone) {
    found.text = std::exchange(held_, {});
  } else if (format_ == ToolFormat::kTagged) {
    FindTagged(last, found);
  } else {
    FindWhole(last, found);
  }
  return found;
}

void ToolCallParser::FindTagged(bool last, Found& found) {
  while (true) {
    if (!inside_) {
      const size_t open = held_.find(std::string(kOpen));
      if (open == std::string::npos) break;
      const absl::string_view before = absl::StripTrailingAsciiWhitespace(
          absl::string_view(held_).substr(0, open));
      absl::StrAppend(&found.text, before);
      space_ = held_.substr(before.size(), open - before.size());
      held_.erase(0, open + kOpen.size());
      inside_ = true;
    }
    // Strings of a call may have the tag in them.
    const absl::string_view rest = absl::StripLeadingAsciiWhitespace(held_);
    const size_t length = ObjectLength(rest);
    if (absl::StartsWith(rest, "{") && length == 0 && !last) return;
    const bool is_call = ParseCall(rest.substr(0, length)).has_value();
    const size_t close = held_.find(
        std::string(kClose), is_call ? held_.size() - rest.size() + length : 0);
    if (close == std::string::npos && !last) return;
    const std::string inner = held_.substr(0, close);
    held_.erase(0, close == std::string::npos ? close : close + kClose.size());
    inside_ = false;
    if (auto call = ParseCall(inner)) {
      found.calls.push_back(*std::move(call));
      found_any_ = true;
    } else {
      absl::StrAppend(&found.text, space_, kOpen, inner,
                      close == std::string::npos ? "" : kClose);
    }
  }
  size_t held = last ? 0 : HeldBack(held_);
  std::string text = held_.substr(0, held_.size() - held);
  held_.erase(0, text.size());
  // Between calls, and behind the last, is nothing to read.
  if (found_any_ && absl::StripAsciiWhitespace(text).empty()) return;
  absl::StrAppend(&found.text, text);
}

bool ToolCallParser::MayBeCalls() const {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(held_);
  if (text.empty()) return true;
  switch (format_) {
    case ToolFormat::kObjects:
      return text[0] == '{';
    case ToolFormat::kMistral:
      if (text[0] == '[' || absl::StartsWith("[TOOL_CALLS]", text)) return true;
      return std::any_of(names_.begin(), names_.end(), [&](const auto& name) {
        const std::string begin = name + "{";
        return absl::StartsWith(text, begin) || absl::StartsWith(begin, text);
      });
    default:
      return true;
  }
}

void ToolCallParser::FindWhole(bool last, Found& found) {
  if (!MayBeCalls()) {
    plain_ = true;
    found.text = std::exchange(held_, {});
    return;
  }
  if (!last) return;
  switch (format_) {
    case ToolFormat::kArguments:
      found.calls.push_back({names_.front(), held_});
      break;
    case ToolFormat::kObjects:
      found.calls = ParseObjects();
      break;
    case ToolFormat::kCalls:
      found.calls = ParseList(held_);
      break;
    default:
      found.calls = ParseMistral();
  }
  if (found.calls.empty()) found.text = held_;
  held_.clear();
}

// Objects one after the other, perhaps with a semicolon in between; or a list.
std::vector<ToolCall> ToolCallParser::ParseObjects() const {
  std::vector<ToolCall> calls;
  absl::string_view rest = absl::StripAsciiWhitespace(held_);
  while (!rest.empty()) {
    const size_t length = ObjectLength(rest);
    auto call = ParseCall(rest.substr(0, length));
    if (length == 0 || !call || !Knows(call->name)) return {};
    calls.push_back(*std::move(call));
    rest.remove_prefix(length);
    rest = absl::StripLeadingAsciiWhitespace(rest);
    absl::ConsumePrefix(&rest, ";");
    rest = absl::StripLeadingAsciiWhitespace(rest);
  }
  return calls;
}

std::vector<ToolCall> ToolCallParser::ParseMistral() const {
  std::vector<ToolCall> calls;
  absl::string_view rest = absl::StripAsciiWhitespace(held_);
  absl::ConsumePrefix(&rest, "[TOOL_CALLS]");
  rest = absl::StripLeadingAsciiWhitespace(rest);
  if (absl::StartsWith(rest, "[")) {
    calls = ParseList(rest);
    const bool known =
        std::all_of(calls.begin(), calls.end(),
                    [this](const ToolCall& call) { return Knows(call.name); });
    return known ? calls : std::vector<ToolCall>();
  }
  while (!rest.empty()) {
    const size_t brace = rest.find('{');
    if (brace == rest.npos || !Knows(rest.substr(0, brace))) return {};
    ToolCall call{.name = std::string(rest.substr(0, brace)), .arguments = ""};
    rest.remove_prefix(brace);
    const size_t length = ObjectLength(rest);
    call.arguments = std::string(rest.substr(0, length));
    if (length == 0 || !ParseOrderedJsonObject("", call.arguments).ok()) {
      return {};
    }
    calls.push_back(std::move(call));
    rest.remove_prefix(length);
  }
  return calls;
}

}  // namespace attend
