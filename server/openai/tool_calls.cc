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
constexpr absl::string_view kFunctionOpen = "<function=";
constexpr absl::string_view kFunctionClose = "</function>";
// Before and after objects and lists, where they are no special tokens.
constexpr absl::string_view kPythonTag = "<|python_tag|>";
constexpr absl::string_view kListOpen = "<|tool_call|>";
constexpr absl::string_view kListClose = "<|/tool_call|>";

// The bytes at the end of `text` that may be the beginning of `open`, with the
// space before it.
size_t HeldBack(absl::string_view text, absl::string_view open) {
  size_t held = 0;
  for (size_t n = std::min(text.size(), open.size() - 1); n > 0; --n) {
    if (!absl::EndsWith(text, open.substr(0, n))) continue;
    held = n;
    break;
  }
  while (held < text.size() &&
         absl::ascii_isspace(text[text.size() - held - 1])) {
    ++held;
  }
  return held;
}

// Tells whether one of two texts begins with the other.
bool MayBegin(absl::string_view text, absl::string_view with) {
  return absl::StartsWith(text, with) || absl::StartsWith(with, text);
}

}  // namespace

ToolFormat ToolFormatOf(const ChatTemplate& chat) {
  if (!chat.takes_tools()) return ToolFormat::kNone;
  if (chat.Mentions("[TOOL_CALLS]")) return ToolFormat::kMistral;
  const bool function = chat.Mentions(kFunctionOpen);
  if (chat.Mentions(kOpen)) {
    return function ? ToolFormat::kTaggedFunction : ToolFormat::kTagged;
  }
  return function ? ToolFormat::kFunction : ToolFormat::kObjects;
}

bool ToolCallParser::Knows(absl::string_view name) const {
  return std::any_of(tools_.begin(), tools_.end(),
                     [&](const Tool& tool) { return tool.name == name; });
}

ToolCallParser::Found ToolCallParser::Append(absl::string_view text,
                                             bool last) {
  Found found;
  absl::StrAppend(&held_, text);
  switch (format_) {
    case ToolFormat::kNone:
      found.text = std::exchange(held_, {});
      break;
    case ToolFormat::kTagged:
    case ToolFormat::kTaggedFunction:
    case ToolFormat::kFunction:
      FindTagged(last, found);
      break;
    default:
      FindWhole(last, found);
  }
  return found;
}

bool ToolCallParser::FindOpen(Found& found) {
  const bool tags = format_ != ToolFormat::kFunction;
  const bool functions = format_ != ToolFormat::kTagged;
  const size_t tag = tags ? held_.find(std::string(kOpen)) : held_.npos;
  const size_t function =
      functions ? held_.find(std::string(kFunctionOpen)) : held_.npos;
  const size_t open = std::min(tag, function);
  if (open == held_.npos) return false;
  const absl::string_view before = absl::StripTrailingAsciiWhitespace(
      absl::string_view(held_).substr(0, open));
  absl::StrAppend(&found.text, before);
  space_ = held_.substr(before.size(), open - before.size());
  in_function_ = function < tag;
  held_.erase(0, open + (in_function_ ? 0 : kOpen.size()));
  inside_ = true;
  return true;
}

void ToolCallParser::FindTagged(bool last, Found& found) {
  while (true) {
    if (!inside_ && !FindOpen(found)) break;
    const absl::string_view open = in_function_ ? "" : kOpen;
    const absl::string_view close_tag = in_function_ ? kFunctionClose : kClose;
    // Strings of a call may have the tag in them.
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(held_);
    if (absl::StartsWith(rest, kFunctionOpen)) {
      rest.remove_prefix(std::min(rest.find('>'), rest.size() - 1) + 1);
      rest = absl::StripLeadingAsciiWhitespace(rest);
    }
    const size_t length = ObjectLength(rest);
    if (absl::StartsWith(rest, "{") && length == 0 && !last) return;
    const bool is_call = in_function_
                             ? length > 0
                             : ParseCall(rest.substr(0, length)).has_value();
    const size_t close =
        held_.find(std::string(close_tag),
                   is_call ? held_.size() - rest.size() + length : 0);
    if (close == std::string::npos && !last) return;
    const std::string inner = held_.substr(0, close);
    held_.erase(0,
                close == std::string::npos ? close : close + close_tag.size());
    inside_ = false;
    auto call = ParseTagged(inner);
    // What is free text has to be a call of a function that there is.
    if (call && (!in_function_ || Knows(call->name))) {
      found.calls.push_back(*std::move(call));
      found_any_ = true;
    } else {
      absl::StrAppend(&found.text, space_, open, inner,
                      close == std::string::npos ? "" : close_tag);
    }
  }
  size_t held = 0;
  if (!last) {
    if (format_ != ToolFormat::kFunction) held = HeldBack(held_, kOpen);
    if (format_ != ToolFormat::kTagged) {
      held = std::max(held, HeldBack(held_, kFunctionOpen));
    }
  }
  std::string text = held_.substr(0, held_.size() - held);
  held_.erase(0, text.size());
  // Between calls, and behind the last, is nothing to read.
  if (found_any_ && absl::StripAsciiWhitespace(text).empty()) return;
  absl::StrAppend(&found.text, text);
}

std::optional<ToolCall> ToolCallParser::ParseTagged(
    absl::string_view inner) const {
  auto call = ParseCall(inner);
  return call ? call : ParseFunctionCall(inner, tools_);
}

bool ToolCallParser::MayBeCalls() const {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(held_);
  if (text.empty()) return true;
  switch (format_) {
    case ToolFormat::kObjects:
      return text[0] == '{' || text[0] == '[' || MayBegin(text, kPythonTag) ||
             MayBegin(text, kListOpen);
    case ToolFormat::kMistral:
      if (text[0] == '[' || absl::StartsWith("[TOOL_CALLS]", text)) return true;
      return std::any_of(tools_.begin(), tools_.end(), [&](const Tool& tool) {
        return MayBegin(text, tool.name + "{");
      });
    default:
      return true;
  }
}

void ToolCallParser::FindWhole(bool last, Found& found) {
  if (!MayBeCalls()) {
    // Llama 3 writes calls in two ways, and templates teach only one.
    format_ = format_ == ToolFormat::kObjects ? ToolFormat::kFunction
                                              : ToolFormat::kNone;
    Found rest = Append("", last);
    absl::StrAppend(&found.text, rest.text);
    found.calls = std::move(rest.calls);
    return;
  }
  if (!last) return;
  switch (format_) {
    case ToolFormat::kArguments:
      found.calls.push_back({tools_.front().name, held_});
      break;
    case ToolFormat::kObjects:
      found.calls = ParseObjects();
      break;
    case ToolFormat::kCalls:
      found.calls = ParseCallList(held_);
      break;
    default:
      found.calls = ParseMistral();
  }
  if (found.calls.empty()) found.text = held_;
  held_.clear();
}

std::vector<ToolCall> ToolCallParser::KnownCalls(absl::string_view list) const {
  std::vector<ToolCall> calls = ParseCallList(list);
  const bool known =
      std::all_of(calls.begin(), calls.end(),
                  [this](const ToolCall& call) { return Knows(call.name); });
  return known ? calls : std::vector<ToolCall>();
}

// Objects one after the other, perhaps with a semicolon in between; or a list.
std::vector<ToolCall> ToolCallParser::ParseObjects() const {
  std::vector<ToolCall> calls;
  absl::string_view rest = absl::StripAsciiWhitespace(held_);
  absl::ConsumePrefix(&rest, kPythonTag);
  if (absl::ConsumePrefix(&rest, kListOpen)) {
    absl::ConsumeSuffix(&rest, kListClose);
  }
  rest = absl::StripAsciiWhitespace(rest);
  if (absl::StartsWith(rest, "[")) return KnownCalls(rest);
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
    calls = KnownCalls(rest);
    return calls;
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
