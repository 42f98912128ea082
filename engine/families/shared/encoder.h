#ifndef ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// What encoder-only families share.

// What a family's config.json calls things.
struct EncoderKeys {
  const char* hidden = "hidden_size";
  const char* layers = "num_hidden_layers";
  const char* heads = "num_attention_heads";
  const char* width = "intermediate_size";  // of the feed-forward network
  const char* activation = "hidden_act";
};

// BERT's encoder (Devlin et al. 2019) in the sizes of config.json: norms after
// the sums, learned positions, a norm of the embeddings, no token types. A
// family changes what differs. A configuration that makes a decoder of it is an
// error.
absl::StatusOr<TransformerSpec> EncoderSpec(const JsonFile& config,
                                            const EncoderKeys& keys,
                                            float epsilon);

// Positions as fairseq has them: they count the tokens that are not `pad`, from
// row pad + 1 of the table on.
absl::Status CountFromPad(const JsonFile& config, int pad,
                          EmbeddingSpec& embedding);

// Names of BERT's embeddings and layers, after `prefix` ("bert.") and without
// it, as a bare model has them; and what may be beside them: its pooler, which
// is not part of its vectors, and buffers.
void AddBertNames(const std::string& prefix, NameTable& names);
// The embeddings alone, without token types.
void AddBertEmbeddings(const std::string& prefix, NameTable& names);
// Norms of checkpoints of 2018 have "gamma" and "beta".
void AddOldNormNames(NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_H_
