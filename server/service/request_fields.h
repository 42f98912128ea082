#ifndef ATTEND_SERVER_SERVICE_REQUEST_FIELDS_H_
#define ATTEND_SERVER_SERVICE_REQUEST_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// What fields of a request hold, checked; `field` names them in errors.

// `status` with "field: " before its message.
absl::Status Annotate(const absl::Status& status, absl::string_view field);

// Token ids, each in [0, vocab).
absl::StatusOr<std::vector<int>> ReadIds(
    const google::protobuf::RepeatedField<int>& ids, int vocab,
    absl::string_view field);

// Tokens of a request without a mask: a mask is an error here.
absl::StatusOr<std::vector<int>> ReadTokens(const v1::Tokens& tokens, int vocab,
                                            absl::string_view field);

// The text that the chat template of `model` makes of a conversation, now. It
// is encoded without adding special tokens. INVALID_ARGUMENT if the model does
// not chat (`chat` is null), or the template says no.
absl::StatusOr<std::string> RenderChat(const v1::Chat& chat,
                                       const ChatTemplate* chat_template,
                                       const ModelInfo& model,
                                       absl::string_view field);

// OK if the tokenizer knows the language that `field` names; empty is none.
absl::Status CheckLanguage(absl::string_view field, const std::string& language,
                           const Tokenizer& tokenizer);

// The target of a score: text gets the end of sequence, ids nothing.
absl::StatusOr<std::vector<int>> ReadTarget(const v1::Input& input,
                                            absl::string_view language,
                                            const ModelInfo& model,
                                            const Tokenizer& tokenizer,
                                            absl::string_view field);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_REQUEST_FIELDS_H_
