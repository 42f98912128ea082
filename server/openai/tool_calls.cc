#include "server/openai/tool_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "server/openai/call_parameters.h"
#include "server/openai/call_sections.h"
#include "server/openai/call_tags.h"
#include "server/openai/mistral_calls.h"
#include "server/openai/recipient_calls.h"

namespace attend {
namespace {

// Before an object or a list that is the whole text.
constexpr absl::string_view kPythonTag = "<|python_tag|>";
constexpr absl::string_view kFunctools = "functools[";

absl::Span<const CallTags> TagsOf(ToolFormat format) {
  const absl::Span<const CallTags> all(kCallTags);
  if (format == ToolFormat::kTagged || format == ToolFormat::kTaggedKeys) {
    return all.first(1);
  }
  return format == ToolFormat::kTaggedFunction ? all.first(2) : all;
}

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
  if (chat.Mentions(">>>all")) return ToolFormat::kRecipients;
  if (chat.Mentions(kToolCall.open)) {
    if (chat.Mentions(kFunctionTag.open)) return ToolFormat::kTaggedFunction;
    return chat.Mentions("<arg_key>") ? ToolFormat::kTaggedKeys
                                      : ToolFormat::kTagged;
  }
  const bool tagged =
      std::any_of(std::begin(kCallTags), std::end(kCallTags),
                  [&](const CallTags& t) { return chat.Mentions(t.open); });
  return tagged ? ToolFormat::kFunction : ToolFormat::kObjects;
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
    case ToolFormat::kTaggedKeys:
    case ToolFormat::kFunction:
      FindTagged(last, found);
      break;
    case ToolFormat::kMistral:
      FindMistral(last, found);
      break;
    case ToolFormat::kRecipients:
      FindRecipients(last, found);
      break;
    default:
      FindWhole(last, found);
  }
  return found;
}

bool ToolCallParser::FindOpen(Found& found) {
  size_t open = std::string::npos;
  for (const CallTags& tags : TagsOf(format_)) {
    const size_t at = absl::string_view(held_).find(tags.open);
    if (at >= open) continue;
    open = at;
    inside_ = &tags;
  }
  if (inside_ == nullptr) return false;
  const absl::string_view before = absl::StripTrailingAsciiWhitespace(
      absl::string_view(held_).substr(0, open));
  absl::StrAppend(&found.text, before);
  space_ = held_.substr(before.size(), open - before.size());
  // The tag of a function is a part of the call.
  const bool all = inside_ == &kFunctionTag;
  held_.erase(0, open + (all ? 0 : inside_->open.size()));
  return true;
}

void ToolCallParser::FindTagged(bool last, Found& found) {
  while (true) {
    if (inside_ == nullptr && !FindOpen(found)) break;
    const bool in_function = inside_ == &kFunctionTag;
    const absl::string_view open = in_function ? "" : inside_->open;
    const absl::string_view close_tag = inside_->close;
    // Strings of a call may have the tag in them.
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(held_);
    if (absl::StartsWith(rest, kFunctionTag.open)) {
      rest.remove_prefix(std::min(rest.find('>'), rest.size() - 1) + 1);
      rest = absl::StripLeadingAsciiWhitespace(rest);
    }
    const size_t length = ObjectLength(rest);
    if (absl::StartsWith(rest, "{") && length == 0 && !last) return;
    const bool is_call = in_function
                             ? length > 0
                             : ParseCall(rest.substr(0, length)).has_value();
    const size_t close = absl::string_view(held_).find(
        close_tag, is_call ? held_.size() - rest.size() + length : 0);
    if (close == std::string::npos && !last) return;
    const std::string inner = held_.substr(0, close);
    held_.erase(0,
                close == std::string::npos ? close : close + close_tag.size());
    inside_ = nullptr;
    std::vector<ToolCall> calls = ParseTagged(inner);
    // What is free text has to be a call of a function that there is.
    if (!calls.empty() && (!in_function || Knows(calls.front().name))) {
      std::move(calls.begin(), calls.end(), std::back_inserter(found.calls));
      found_any_ = true;
    } else {
      absl::StrAppend(&found.text, space_, open, inner,
                      close == std::string::npos ? "" : close_tag);
    }
  }
  size_t held = 0;
  for (const CallTags& tags : TagsOf(format_)) {
    if (!last) held = std::max(held, HeldBack(held_, tags.open));
  }
  std::string text = held_.substr(0, held_.size() - held);
  held_.erase(0, text.size());
  // Between calls, and behind the last, is nothing to read.
  if (found_any_ && absl::StripAsciiWhitespace(text).empty()) return;
  absl::StrAppend(&found.text, text);
}

std::vector<ToolCall> ToolCallParser::ParseTagged(
    absl::string_view inner) const {
  for (const auto& call : {ParseCall(inner), ParseFunctionCall(inner, tools_),
                           ParseKeyedCall(inner, tools_)}) {
    if (call) return {*call};
  }
  for (auto& calls : {ParseCallList(inner), ParseInvocations(inner, tools_),
                      ParseSection(inner)}) {
    if (!calls.empty()) return calls;
  }
  return {};
}

bool ToolCallParser::MayBeCalls() const {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(held_);
  if (text.empty()) return true;
  switch (format_) {
    case ToolFormat::kObjects:
      return text[0] == '{' || text[0] == '[' || MayBegin(text, kPythonTag) ||
             MayBegin(text, kFunctools);
    default:
      return true;
  }
}

void ToolCallParser::FindWhole(bool last, Found& found) {
  if (!MayBeCalls()) {
    // Llama 3 writes calls in two ways, and templates teach only one.
    format_ = ToolFormat::kFunction;
    Found rest = Append("", last);
    absl::StrAppend(&found.text, rest.text);
    found.calls = std::move(rest.calls);
    return;
  }
  if (!last) return;
  switch (format_) {
    case ToolFormat::kArguments:
      // A thought that was cut is followed by nothing.
      if (!held_.empty()) found.calls.push_back({tools_.front().name, held_});
      break;
    case ToolFormat::kObjects:
      found.calls = ParseObjects();
      break;
    default:
      found.calls = ParseCallList(held_);
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
  if (absl::StartsWith(rest, kFunctools)) rest.remove_prefix(rest.find('['));
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

void ToolCallParser::FindMistral(bool last, Found& found) {
  // A text may look like calls in each place, and each is read to its end.
  constexpr int kMaxAttempts = 64;
  for (int attempt = 0; !held_.empty(); ++attempt) {
    if (attempt == kMaxAttempts) {
      found.text += std::exchange(held_, {});
      return;
    }
    const size_t begin = MistralBegin(held_, !text_begun_, tools_);
    const std::string text = held_.substr(0, begin);
    text_begun_ |= !absl::StripAsciiWhitespace(text).empty();
    absl::StrAppend(&found.text, text);
    held_.erase(0, text.size());
    if (held_.empty() || !last) return;
    found.calls = ParseMistral(held_, tools_);
    if (!found.calls.empty()) return held_.clear();
    // No call begins here.
    text_begun_ = true;
    found.text += held_[0];
    held_.erase(0, 1);
  }
}

void ToolCallParser::FindRecipients(bool last, Found& found) {
  const std::string mark(kRecipientMark);
  while (!held_.empty()) {
    if (text_begun_) {
      const size_t next = held_.find(mark);
      const size_t held = last ? 0 : HeldBack(held_, mark);
      const std::string text =
          held_.substr(0, std::min(next, held_.size() - held));
      held_.erase(0, text.size());
      text_begun_ = next == held_.npos;
      absl::StrAppend(
          &found.text,
          text_begun_ ? text : absl::StripTrailingAsciiWhitespace(text));
      if (text_begun_) return;
    } else if (absl::StartsWith(held_, mark)) {
      held_.erase(0, mark.size());
    } else if (auto call = TakeRecipientCall(tools_, held_)) {
      found.calls.push_back(*std::move(call));
    } else {
      if (!last && MayBeRecipient(tools_, held_)) return;
      if (absl::StartsWith(held_, kToAll)) held_.erase(0, kToAll.size());
      text_begun_ = true;
    }
  }
}

}  // namespace attend
