#ifndef ATTEND_ENGINE_FAMILIES_SHARED_FAIRSEQ_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_FAIRSEQ_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// What the encoder-decoders that came to transformers from fairseq share: the
// fields of config.json, and the names of tensors. Each family says what
// differs.

// The epsilon of all norms; no configuration has a field for it.
inline constexpr float kFairseqEpsilon = 1e-5f;

struct FairseqDefaults {
  NormPlace norm_place = NormPlace::kPost;
  absl::string_view activation = "gelu";
  bool scale_embedding = false;
  // The fields of config.json with the sizes of the vocabularies.
  const char* source_vocab = "vocab_size";
  const char* target_vocab = "vocab_size";
};

// Both stacks with the sizes of config.json, LayerNorm and the sinusoids of
// Vaswani et al. 2017. The family then changes whatever differs.
absl::StatusOr<TransformerSpec> FairseqSpec(const JsonFile& config,
                                            const FairseqDefaults& defaults);

// The embeddings of BART and mBART: learned positions, with two unused rows at
// the beginning of the table, and a norm of the sum.
void UseBartEmbeddings(Family& family);

// Learned positions of both stacks, with `offset` unused rows at the beginning
// of the table, and a norm of the embeddings. The embeddings of BART and mBART
// have both, with an offset of 2.
void UseLearnedPositions(int offset, Family& family);
void UseEmbeddingNorms(Family& family);

// Sinusoids of M2M-100 and FSMT, which count the tokens that are not padding.
// INVALID_ARGUMENT if d_model is odd.
absl::Status UseCountedSinusoids(const JsonFile& config, Family& family);

// Adds the names of the matrices and norms of a layer without cross-attention,
// "<slot>self.q.weight" and so on.
void AddFairseqBranches(const std::string& slot,
                        const std::vector<std::string>& prefixes,
                        NameTable& names);

// The factor of the tokens' vectors, by `scale_embedding`. `fallback`: whether
// they are scaled if config.json does not say it.
absl::StatusOr<float> FairseqScale(const JsonFile& config, int hidden,
                                   bool fallback);

// Adds the names of a decoder alone, whose tensors have `prefix` ("biogpt.") or
// none: the token table, the matrix `logits` ("lm_head"), which may be tied to
// it, all layers, and the last norm.
absl::Status AddFairseqDecoder(const JsonFile& config,
                               const std::string& prefix,
                               const std::string& logits, NameTable& names);

// Adds the names of all layers of both stacks, and of the last norms if the
// layers are pre-norm.
void AddFairseqLayers(Family& family);

// Adds the names of the token table, which both stacks share. The logits share
// it too, unless config.json says that they are not tied.
absl::Status AddFairseqTokens(const JsonFile& config, Family& family);

// Adds slot "logits.bias", which is zero in checkpoints without that tensor.
void AddFairseqLogitsBias(Family& family);

// Lists tables of positions as unused: they are computed, but may be in the
// file.
void AddUnusedPositions(Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_FAIRSEQ_H_
