#include "server/service/request_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/encode_within.h"
#include "engine/tokenizer/text/too_many_tokens.h"

namespace attend {
namespace {

// Every model takes this many messages.
constexpr int kMinMessages = 1024;

// The limit of messages is that of tokens, because a template puts at least one
// token between two messages.
absl::Status CheckChatSize(const v1::Chat& chat, const ModelInfo& model,
                           const Tokenizer& tokenizer, absl::string_view field,
                           bool truncate) {
  const int tokens = model.max_source_tokens;
  const int limit = std::max(kMinMessages, tokens);
  if (chat.messages_size() > limit) {
    return TooManyTokensError(
        absl::StrFormat("%s.messages has %d entries, limit is %d (for %d "
                        "tokens)",
                        field, chat.messages_size(), limit, tokens));
  }
  size_t bytes = chat.variables_json().size();
  for (const v1::ChatMessage& message : chat.messages()) {
    bytes += message.role().size() + message.content().size() +
             message.fields_json().size();
  }
  if (truncate && bytes <= MaxCutBytes(tokenizer, tokens)) {
    return absl::OkStatus();
  }
  return CheckTextBytes(field, bytes, tokens, tokenizer);
}

}  // namespace

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

absl::Status CheckTextBytes(absl::string_view field, size_t bytes, int tokens,
                            const Tokenizer& tokenizer) {
  const size_t limit = MaxTextBytes(tokenizer, tokens);
  if (bytes <= limit) return absl::OkStatus();
  return TooManyTokensError(
      absl::StrFormat("%s has %d bytes, limit is %d (for %d tokens)", field,
                      bytes, limit, tokens));
}

absl::StatusOr<std::string> RenderChat(const v1::Chat& chat,
                                       const ChatTemplate* chat_template,
                                       const ModelInfo& model,
                                       const Tokenizer& tokenizer,
                                       const CallContext* call,
                                       absl::string_view field, bool truncate) {
  if (chat_template == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is set, but model '%s' does not chat: it %s", field, model.name,
        model.continues_source ? "has no chat template"
                               : "does not continue text"));
  }
  RETURN_IF_ERROR(CheckChatSize(chat, model, tokenizer, field, truncate));
  Chat conversation = {.messages = {},
                       .add_generation_prompt = !chat.no_generation_prompt(),
                       .variables = chat.variables_json()};
  for (const v1::ChatMessage& message : chat.messages()) {
    conversation.messages.push_back({.role = message.role(),
                                     .content = message.content(),
                                     .fields = message.fields_json()});
  }
  auto text = chat_template->Render(conversation, absl::Now(), [call] {
    return call != nullptr && !call->CheckAwaited().ok();
  });
  if (!text.ok()) return Annotate(text.status(), field);
  return text;
}

bool IsLanguageToken(int id, const Tokenizer& tokenizer) {
  const std::vector<std::string> languages = tokenizer.languages(Side::kTarget);
  return std::any_of(languages.begin(), languages.end(),
                     [&](const std::string& language) {
                       const auto token = tokenizer.LanguageId(language);
                       return token.ok() && *token == id;
                     });
}

absl::StatusOr<std::vector<int>> ReadTarget(const v1::Input& input,
                                            absl::string_view language,
                                            const ModelInfo& model,
                                            const Tokenizer& tokenizer,
                                            absl::string_view field) {
  switch (input.input_case()) {
    case v1::Input::kText: {
      const std::string name = absl::StrCat(field, ".text");
      const int limit = model.max_target_tokens;
      RETURN_IF_ERROR(
          CheckTextBytes(name, input.text().size(), limit, tokenizer));
      auto encoding = EncodeWithin(tokenizer,
                                   {.text = input.text(),
                                    .side = Side::kTarget,
                                    .add_special = !model.continues_source,
                                    .language = language},
                                   {.tokens = limit});
      if (!encoding.ok()) return Annotate(encoding.status(), name);
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
