#ifndef ATTEND_ENGINE_TOKENIZER_GGUF_GGUF_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_GGUF_GGUF_TOKENIZER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

struct GgufTokenizer {
  std::unique_ptr<Tokenizer> tokenizer;
  HfConfig config;  // the tokens that have a role
};

// The tokenizer that the metadata of a GGUF file describes, by the keys
// "tokenizer.ggml.*"; IdsOnly if it describes none. INVALID_ARGUMENT names the
// file, the key, its value and what is supported.
absl::StatusOr<GgufTokenizer> LoadGgufTokenizer(const JsonFile& metadata);

// The chat templates "tokenizer.chat_template" and "tokenizer.chat_template.*";
// null if the file has none.
absl::StatusOr<std::unique_ptr<ChatTemplate>> LoadGgufChat(
    const JsonFile& metadata, const HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_GGUF_GGUF_TOKENIZER_H_
