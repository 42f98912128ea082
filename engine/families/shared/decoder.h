#ifndef ATTEND_ENGINE_FAMILIES_SHARED_DECODER_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_DECODER_H_

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// What decoders alone share.

// What a family's config.json calls things.
struct DecoderKeys {
  const char* hidden = "hidden_size";
  const char* heads = "num_attention_heads";
  const char* layers = "num_hidden_layers";
  const char* positions = "max_position_embeddings";
  int max_positions = 0;  // where the file does not say; 0: it must
};

struct DecoderSizes {
  int hidden = 0;
  int heads = 0;
  int layers = 0;
  int vocab = 0;
  int max_positions = 0;
};

absl::StatusOr<DecoderSizes> ReadDecoderSizes(const JsonFile& config,
                                              const DecoderKeys& keys);

// A causal decoder of equal layers, whose embedding adds no positions. A family
// changes what differs.
TransformerSpec DecoderOf(const DecoderSizes& sizes, const LayerSpec& layer);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_DECODER_H_
