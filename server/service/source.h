#ifndef ATTEND_SERVER_SERVICE_SOURCE_H_
#define ATTEND_SERVER_SERVICE_SOURCE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/api/thought.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/service/input_state.h"

namespace attend {

// The source of one input, as the engine takes it.
struct Source {
  SourceTokens tokens;
  std::vector<TokenOrigin> origins;  // of the tokens of a text; else empty
  bool truncated = false;
  // The source has no tokens but special ones, so nothing is computed from it.
  // Exception: a model that continues its source continues special tokens too.
  bool empty = false;
  // The thought with which a text that continues the source may begin.
  Thought thought;

  InputFacts facts() const {
    return {.source_tokens = static_cast<int>(tokens.ids.size()),
            .truncated = truncated};
  }
};

struct SourceOptions {
  bool truncate = false;  // cut an over-long input; else refuse it
  // The limit of tokens of a text; 0: the model's max_source_tokens.
  int max_text_tokens = 0;
  bool needs_token = false;             // no token at all is INVALID_ARGUMENT
  bool takes_pair = false;              // false: a pair is INVALID_ARGUMENT
  PairCut cut = PairCut::kLongerFirst;  // with `truncate`
  bool takes_chat = false;              // false: a chat is INVALID_ARGUMENT
  const ChatTemplate* chat = nullptr;   // null: the model has none
  absl::string_view language = "";      // of a text; see EncodeInput
  absl::string_view prompt = "";        // put before a text
  // Names the target language, and stands before a text (">>fra<< "). There is
  // no prompt then, and token ids are INVALID_ARGUMENT: they may have it.
  absl::string_view language_mark = "";
  // If this call is cancelled, reading ends with CANCELLED. Null: no call.
  const CallContext* call = nullptr;
};

// Reads the source of one input.
// * A text or a chat is tokenised.
// * Of token ids, the masked ones are left out, and the others keep their
//   positions.
// * A source that is too long is INVALID_ARGUMENT. With `truncate` it is cut to
//   the limit, and keeps its final special tokens.
// * Of a long text only as much is tokenised as the limit takes (see
//   EncodeWithin()). Without `truncate`, a text above MaxTextBytes() is refused
//   before it is tokenised.
absl::StatusOr<Source> ReadSource(const v1::Input& input,
                                  const SourceOptions& options,
                                  const ModelInfo& model,
                                  const Tokenizer& tokenizer,
                                  absl::string_view field);

// One token of a source as an answer shows it.
void FillSourceToken(const Source& source, size_t index,
                     const Tokenizer& tokenizer, v1::SourceToken& to);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SOURCE_H_
