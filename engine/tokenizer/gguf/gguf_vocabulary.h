#ifndef ATTEND_ENGINE_TOKENIZER_GGUF_GGUF_VOCABULARY_H_
#define ATTEND_ENGINE_TOKENIZER_GGUF_GGUF_VOCABULARY_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// What the metadata of a GGUF file says of its tokenizer, under the keys
// "tokenizer.ggml.*".
struct GgufVocabulary {
  enum class Type {
    kNormal = 1,
    kUnknown,
    kControl,
    kUserDefined,
    kUnused,
    kByte
  };

  std::string model;                // how texts are cut: "gpt2", "bert"
  std::string pre;                  // how they are cut before that; "": unsaid
  std::vector<std::string> tokens;  // by id
  std::vector<Type> types;          // by id; empty: all are normal
  std::vector<float> scores;        // by id, or empty
  std::vector<std::string> merges;  // "Ġ t", the first first; or empty
  // Ids; -1: none.
  int bos = -1, eos = -1, unknown = -1, pad = -1;
  int cls = -1, sep = -1, mask = -1;
  bool add_bos = false, add_eos = false;  // around a text
  bool space_before = true;  // a text gets a space before it, in "llama"

  Type type(size_t id) const {
    return types.empty() ? Type::kNormal : types[id];
  }
  // "" if there is no such id.
  std::string TextOf(int id) const { return id < 0 ? "" : tokens[id]; }
};

// INVALID_ARGUMENT names the file, the key and the value.
absl::StatusOr<GgufVocabulary> ReadGgufVocabulary(const JsonFile& metadata);

// What tokenizer_config.json would say.
HfConfig HfConfigOf(const GgufVocabulary& vocabulary);

// Parts of a tokenizer.json. The tokens that a text may contain as they are:
nlohmann::json AddedTokensJson(const GgufVocabulary& vocabulary);
// The tokens before and after a text; null if there are none.
nlohmann::json PostProcessorJson(const GgufVocabulary& vocabulary);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_GGUF_GGUF_VOCABULARY_H_
