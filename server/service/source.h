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
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/service/input_state.h"

namespace attend {

// The source of one input, as the engine takes it.
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
  const CallContext* call = nullptr;   // whose end ends the work; null: none
};

// The source of one input: tokenised, or token ids with those masked left out
// and the others at their positions. Over-long: INVALID_ARGUMENT, or if
// `truncate` cut to the model's max_source_tokens with the final special
// tokens kept. Of a long text only what that needs is tokenised (see
// EncodeWithin), and without `truncate` none of one over MaxTextBytes().
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
