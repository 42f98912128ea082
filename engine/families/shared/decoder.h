#ifndef ATTEND_ENGINE_FAMILIES_SHARED_DECODER_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_DECODER_H_

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// What decoder-only families share.

// The names of fields in a family's config.json.
struct DecoderKeys {
  const char* hidden = "hidden_size";
  const char* heads = "num_attention_heads";
  const char* layers = "num_hidden_layers";
  const char* positions = "max_position_embeddings";
  // Used if the file does not have `positions`; 0: then that is an error.
  int max_positions = 0;
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

// A causal decoder of equal layers, whose embedding adds no positions. The
// family then changes whatever differs.
TransformerSpec DecoderOf(const DecoderSizes& sizes, const LayerSpec& layer);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_DECODER_H_
