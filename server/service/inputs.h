#ifndef ATTEND_SERVER_SERVICE_INPUTS_H_
#define ATTEND_SERVER_SERVICE_INPUTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/service/input_state.h"

namespace attend {

// Token ids of a request, each in [0, vocab); `field` names them in errors.
absl::StatusOr<std::vector<int>> ReadIds(
    const google::protobuf::RepeatedField<int>& ids, int vocab,
    absl::string_view field);

// Tokens of a request without a mask: a mask is an error here.
absl::StatusOr<std::vector<int>> ReadTokens(const v1::Tokens& tokens, int vocab,
                                            absl::string_view field);

struct Source {
  SourceTokens tokens;
  std::vector<TokenOrigin> origins;  // of a text's tokens; else empty
  bool truncated = false;
  // Nothing but special tokens, of which nothing is made; a model that
  // continues its source continues these, too.
  bool empty = false;

  InputFacts facts() const {
    return {.source_tokens = static_cast<int>(tokens.ids.size()),
            .truncated = truncated};
  }
};

struct SourceOptions {
  bool truncate = false;     // instead of refusing what is over-long
  int max_text_tokens = 0;   // of a text; 0: the model's max_source_tokens
  bool needs_token = false;  // no token at all is INVALID_ARGUMENT
  bool takes_pair = false;   // else a pair is INVALID_ARGUMENT
  bool takes_chat = false;   // else a chat is INVALID_ARGUMENT
  const ChatTemplate* chat = nullptr;  // null: the model has none
  absl::string_view language = "";     // of a text; see EncodeInput
  absl::string_view prompt = "";       // put before a text
};

// The source of one input: tokenised, or token ids with those masked left out
// and the others at their positions. Over-long: INVALID_ARGUMENT, or if
// `truncate` cut to the model's max_source_tokens with the final special
// tokens kept.
absl::StatusOr<Source> ReadSource(const v1::Input& input,
                                  const SourceOptions& options,
                                  const ModelInfo& model,
                                  const Tokenizer& tokenizer,
                                  absl::string_view field);

// The text that the chat template of `model` makes of a conversation, now. It
// is encoded without adding special tokens. INVALID_ARGUMENT if the model does
// not chat (`chat` is null), or the template says no.
absl::StatusOr<std::string> RenderChat(const v1::Chat& chat,
                                       const ChatTemplate* chat_template,
                                       const ModelInfo& model,
                                       absl::string_view field);

// One token of a source as an answer shows it.
void FillSourceToken(const Source& source, size_t index,
                     const Tokenizer& tokenizer, v1::SourceToken& to);

// OK if the tokenizer knows the language that `field` names; empty is none.
absl::Status CheckLanguage(absl::string_view field, const std::string& language,
                           const Tokenizer& tokenizer);

// The target of a score: text gets the end of sequence, ids nothing.
absl::StatusOr<std::vector<int>> ReadTarget(const v1::Input& input,
                                            absl::string_view language,
                                            const ModelInfo& model,
                                            const Tokenizer& tokenizer,
                                            absl::string_view field);

// `status` with "field: " before its message.
absl::Status Annotate(const absl::Status& status, absl::string_view field);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_INPUTS_H_
