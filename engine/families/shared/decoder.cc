#include "engine/families/shared/decoder.h"

#include "engine/families/shared/config_fields.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<DecoderSizes> ReadDecoderSizes(const JsonFile& config,
                                              const DecoderKeys& keys) {
  const DecoderKeys usual;
  DecoderSizes sizes;
  ASSIGN_OR_RETURN(sizes.hidden,
                   Number(config, {keys.hidden, usual.hidden}, kHidden));
  ASSIGN_OR_RETURN(sizes.heads,
                   Number(config, {keys.heads, usual.heads}, kHeads));
  ASSIGN_OR_RETURN(sizes.layers,
                   Number(config, {keys.layers, usual.layers}, kLayers));
  ASSIGN_OR_RETURN(sizes.vocab, Number(config, {"vocab_size"}, kVocab));
  ASSIGN_OR_RETURN(sizes.max_positions,
                   keys.max_positions > 0
                       ? NumberOr(config, keys.positions, keys.max_positions,
                                  kComputedPositions)
                       : Number(config, {keys.positions, usual.positions},
                                kComputedPositions));
  return sizes;
}

TransformerSpec DecoderOf(const DecoderSizes& sizes, const LayerSpec& layer) {
  TransformerSpec spec;
  spec.hidden = sizes.hidden;
  StackSpec& decoder = spec.decoder.emplace();
  decoder.layers.assign(sizes.layers, layer);
  decoder.embedding.vocab = sizes.vocab;
  decoder.embedding.width = sizes.hidden;
  decoder.embedding.positions = Positions::kNone;
  decoder.embedding.max_positions = sizes.max_positions;
  return spec;
}

}  // namespace attend
