#ifndef ATTEND_SERVER_SERVICE_REQUEST_FIELDS_H_
#define ATTEND_SERVER_SERVICE_REQUEST_FIELDS_H_

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
#include "server/service/call_context.h"

namespace attend {

// Functions that read the fields of a request, and check the values. `field` is
// the name of the field in errors, such as "inputs[2].tokens".

// `status`, with `field` and ": " put before its message.
absl::Status Annotate(const absl::Status& status, absl::string_view field);

// The ids of a field. INVALID_ARGUMENT unless each is in [0, vocab).
absl::StatusOr<std::vector<int>> ReadIds(
    const google::protobuf::RepeatedField<int>& ids, int vocab,
    absl::string_view field);

// The ids of a field that takes no mask. INVALID_ARGUMENT also if the field has
// a mask.
absl::StatusOr<std::vector<int>> ReadTokens(const v1::Tokens& tokens, int vocab,
                                            absl::string_view field);

// OK if a text of `bytes` bytes may be tokenised. The text may have at most
// `tokens` tokens; see MaxTextBytes().
absl::Status CheckTextBytes(absl::string_view field, size_t bytes, int tokens,
                            const Tokenizer& tokenizer);

// The text that the model's chat template makes of a conversation, on the
// current date. The text contains its special tokens, so no special tokens are
// added when the text is encoded. Errors:
// * INVALID_ARGUMENT if the model has no template (`chat_template` is null), if
//   the conversation has more bytes or more messages than fit into the model's
//   longest source (with `truncate`: more bytes than are read to cut it), or if
//   the template refuses the conversation;
// * CANCELLED if `call` has been cancelled. `call` may be null: then nothing
//   cancels.
absl::StatusOr<std::string> RenderChat(
    const v1::Chat& chat, const ChatTemplate* chat_template,
    const ModelInfo& model, const Tokenizer& tokenizer, const CallContext* call,
    absl::string_view field, bool truncate = false);

// Returns true if `id` is the token of a target language, as the decoder start
// of mBART is.
bool IsLanguageToken(int id, const Tokenizer& tokenizer);

// The target of a pair to score. Of a text: its tokens, then the end of
// sequence. Of ids: the ids as they are.
absl::StatusOr<std::vector<int>> ReadTarget(const v1::Input& input,
                                            absl::string_view language,
                                            const ModelInfo& model,
                                            const Tokenizer& tokenizer,
                                            absl::string_view field);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_REQUEST_FIELDS_H_
