#ifndef ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/checkpoint/weights.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// What encoder-only families share.

// The names of fields in a family's config.json.
struct EncoderKeys {
  const char* hidden = "hidden_size";
  const char* layers = "num_hidden_layers";
  const char* heads = "num_attention_heads";
  const char* width = "intermediate_size";  // of the feed-forward network
  const char* activation = "hidden_act";
  const char* positions = "max_position_embeddings";
  // The required position_embedding_type, which is also the default.
  const char* position_type = "absolute";
};

// BERT's encoder (Devlin et al. 2019) with the sizes of config.json: post-norm,
// learned positions, a norm of the embeddings, no token types. The family then
// changes whatever differs. `activation` is that of a configuration that names
// none. INVALID_ARGUMENT if the configuration makes the model a decoder.
absl::StatusOr<TransformerSpec> EncoderSpec(
    const JsonFile& config, const EncoderKeys& keys, float epsilon,
    absl::string_view activation = "gelu");

// Positions as in fairseq: they count the tokens that are not `pad`, and the
// first such token has row pad + 1 of the table.
absl::Status CountFromPad(const JsonFile& config, int pad,
                          EmbeddingSpec& embedding);

// The norms of a layer of BERT, and of an encoder whose norms come before the
// branches.
struct BertNorms {
  const char* self = "attention.output.LayerNorm";
  const char* feed_forward = "output.LayerNorm";
};

// Adds the names of BERT's embeddings and layers, both with `prefix` ("bert.")
// and without it (as a bare model has them). Lists as unused what may stand
// beside them: buffers, and the pooler, which does not change the embeddings.
void AddBertNames(const std::string& prefix, NameTable& names,
                  const BertNorms& norms = {});
// Moves the norms before the branches. `final_norm`, named with and without
// `prefix`, is the norm after the last layer.
void MoveNorms(const std::string& prefix, const std::string& final_norm,
               StackSpec& encoder, NameTable& names);
// Adds the names of the embeddings alone, without token types.
void AddBertEmbeddings(const std::string& prefix, NameTable& names);
// Adds the names "gamma" and "beta" that norms have in checkpoints of 2018.
void AddOldNormNames(NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_H_
