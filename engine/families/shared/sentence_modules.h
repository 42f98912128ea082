#ifndef ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_MODULES_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_MODULES_H_

#include <string>

#include "absl/status/status.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"

namespace attend {

// The modules of sentence-transformers that follow the transformer, each from
// the config.json of its folder into family.spec.embed.

// Pooling: one or several poolings, with or without the prompt.
absl::Status ReadPooling(const JsonFile& config, TransformerSpec& spec);

// SpladePooling: how masked-LM logits become weights of tokens.
absl::Status ReadSpladePooling(const JsonFile& config, TransformerSpec& spec);

// The vectors that a module reads and writes.
enum class Feature { kSentence, kTokens };

// Dense: a linear map, any activation of torch.nn that has no arguments, a
// residual. Its weights are in `folder`.
absl::Status AddDense(const JsonFile& config, const std::string& folder,
                      Feature feature, Family& family);

// LayerNorm, whose weights are in `folder`.
absl::Status AddLayerNorm(const JsonFile& config, const std::string& folder,
                          Family& family);

// Normalize: the vector's length becomes 1. As the last module of a sentence it
// is a default that a request may change (EmbedSpec::normalize).
absl::Status AddNormalize(const JsonFile& config, Feature feature,
                          TransformerSpec& spec);

// Settles a Normalize that is not the last module: it is always computed.
void KeepNormalize(TransformerSpec& spec);

// Keeps the first `dimensions` numbers of the vector.
void AddCut(int dimensions, TransformerSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_MODULES_H_
