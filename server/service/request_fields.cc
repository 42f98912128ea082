#include "server/service/request_fields.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace attend {

absl::Status Annotate(const absl::Status& status, absl::string_view field) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(),
                         absl::StrCat(field, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

absl::StatusOr<std::vector<int>> ReadIds(
    const google::protobuf::RepeatedField<int>& ids, int vocab,
    absl::string_view field) {
  for (int i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocab) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s[%d] is %d, must be in [0, %d)", field, i, ids[i], vocab));
    }
  }
  return std::vector<int>(ids.begin(), ids.end());
}

absl::StatusOr<std::vector<int>> ReadTokens(const v1::Tokens& tokens, int vocab,
                                            absl::string_view field) {
  if (!tokens.types().empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s.types has %d values, must be empty: only a source has token types",
        field, tokens.types_size()));
  }
  if (!tokens.attention_mask().empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s.attention_mask has %d values, must be empty: only a source can be "
        "masked",
        field, tokens.attention_mask_size()));
  }
  return ReadIds(tokens.ids(), vocab, absl::StrCat(field, ".ids"));
}

absl::StatusOr<std::string> RenderChat(const v1::Chat& chat,
                                       const ChatTemplate* chat_template,
                                       const ModelInfo& model,
                                       absl::string_view field) {
  if (chat_template == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is set, but model '%s' does not chat: it %s", field, model.name,
        model.continues_source ? "has no chat template"
                               : "does not continue text"));
  }
  Chat conversation = {.messages = {},
                       .add_generation_prompt = !chat.no_generation_prompt(),
                       .variables = chat.variables_json()};
  for (const v1::ChatMessage& message : chat.messages()) {
    conversation.messages.push_back({.role = message.role(),
                                     .content = message.content(),
                                     .fields = message.fields_json()});
  }
  auto text = chat_template->Render(conversation, absl::Now());
  if (!text.ok()) return Annotate(text.status(), field);
  return text;
}

absl::Status CheckLanguage(absl::string_view field, const std::string& language,
                           const Tokenizer& tokenizer) {
  if (language.empty()) return absl::OkStatus();
  return Annotate(tokenizer.LanguageId(language).status(), field);
}

absl::StatusOr<std::vector<int>> ReadTarget(const v1::Input& input,
                                            absl::string_view language,
                                            const ModelInfo& model,
                                            const Tokenizer& tokenizer,
                                            absl::string_view field) {
  switch (input.input_case()) {
    case v1::Input::kText: {
      auto encoding = tokenizer.Encode({.text = input.text(),
                                        .side = Side::kTarget,
                                        .add_special = !model.continues_source,
                                        .language = language});
      if (!encoding.ok()) {
        return Annotate(encoding.status(), absl::StrCat(field, ".text"));
      }
      return std::move(encoding->ids);
    }
    case v1::Input::kTokens:
      return ReadTokens(input.tokens(), model.target_vocab,
                        absl::StrCat(field, ".tokens"));
    case v1::Input::kChat:
    case v1::Input::INPUT_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is not set, must have text or tokens"));
}

}  // namespace attend
