#ifndef ATTEND_ENGINE_FAMILIES_SHARED_FAIRSEQ_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_FAIRSEQ_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// What the encoder-decoders that came to transformers by way of fairseq have in
// common: the words of their config.json, and the names of their tensors. A
// family says how it differs.

// Epsilon of all their norms; no configuration has it.
inline constexpr float kFairseqEpsilon = 1e-5f;

struct FairseqDefaults {
  NormPlace norm_place = NormPlace::kPost;
  absl::string_view activation = "gelu";
  bool scale_embedding = false;
};

// Both stacks as config.json has them, with LayerNorm, the source's vocabulary
// for both, and Vaswani's sinusoids, which a family may replace.
absl::StatusOr<TransformerSpec> FairseqSpec(const JsonFile& config,
                                            const FairseqDefaults& defaults);

// The embeddings of BART and mBART: learned positions, where the first two rows
// are nobody's, and a norm of the sum.
void UseBartEmbeddings(Family& family);

// Rows for all layers of both stacks, and their last norms where the norms come
// first.
void AddFairseqLayers(Family& family);

// Rows for tables of tokens: one for both stacks and, unless config.json says
// that it is not tied, the logits.
absl::Status AddFairseqTokens(const JsonFile& config, Family& family);

// Reads slot "logits.bias", zeros in checkpoints without it.
void AddFairseqLogitsBias(Family& family);

// Positions that are computed, and yet may be in the file.
void AddUnusedPositions(Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_FAIRSEQ_H_
