#include "server/inference/field_names.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

// A field of an entry, and the tensor that it comes from. Longer ones first.
struct Name {
  absl::string_view field;
  absl::string_view tensor;
};
constexpr Name kFields[] = {
    {".tokens.attention_mask", "attention_mask"},
    {".tokens.types", "token_type_ids"},
    {".tokens.ids", "input_ids"},
    {".tokens", "input_ids"},
    {".text", "text_input"},
    {".pair", "text_pair"},
    {".chat", "chat_input"},
    {".question", "question"},
    {".context", "context"},
    {"", "input"},
};
constexpr Name kTargetFields[] = {
    {".tokens.ids", "target_ids"},
    {".tokens", "target_ids"},
    {".text", "target_text"},
    {"", "target"},
};

// Takes "inputs[12]", "pairs[12]" or "questions[12]" off the front of `text`,
// and returns "[12]"; empty: there is none.
absl::string_view TakeEntry(absl::string_view& text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, "inputs[") &&
      !absl::ConsumePrefix(&rest, "pairs[") &&
      !absl::ConsumePrefix(&rest, "questions[")) {
    return {};
  }
  size_t digits = 0;
  while (digits < rest.size() && absl::ascii_isdigit(rest[digits])) ++digits;
  if (digits == 0 || digits == rest.size() || rest[digits] != ']') return {};
  const absl::string_view index(rest.data() - 1, digits + 2);
  text = rest.substr(digits + 1);
  return index;
}

template <size_t kCount>
std::string TakeField(const Name (&names)[kCount], absl::string_view index,
                      absl::string_view& text) {
  for (const Name& name : names) {
    if (absl::ConsumePrefix(&text, name.field)) {
      return absl::StrCat(name.tensor, index);
    }
  }
  return std::string(index);
}

// Takes a field off the front of `text`, and returns what the client calls it;
// empty: there is none.
std::string TakeName(absl::string_view& text) {
  if (absl::ConsumePrefix(&text, "params.")) {
    size_t length = 0;
    while (length < text.size() &&
           (absl::ascii_isalnum(text[length]) || text[length] == '_')) {
      ++length;
    }
    const std::string name(text.substr(0, length));
    text.remove_prefix(length);
    return name;
  }
  const absl::string_view index = TakeEntry(text);
  if (index.empty()) return "";
  absl::ConsumePrefix(&text, ".source");
  if (absl::ConsumePrefix(&text, ".target")) {
    return TakeField(kTargetFields, index, text);
  }
  return TakeField(kFields, index, text);
}

}  // namespace

std::string WithTensorNames(absl::string_view text) {
  std::string renamed;
  while (!text.empty()) {
    const bool begins =
        renamed.empty() || renamed.back() == ' ' || renamed.back() == '(';
    const std::string name = begins ? TakeName(text) : "";
    if (!name.empty()) {
      renamed += name;
    } else {
      renamed += text.front();
      text.remove_prefix(1);
    }
  }
  return renamed;
}

absl::Status WithTensorNames(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  absl::Status renamed(status.code(), WithTensorNames(status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    renamed.SetPayload(url, payload);
  });
  return renamed;
}

}  // namespace attend
