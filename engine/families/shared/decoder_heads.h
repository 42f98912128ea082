#ifndef ATTEND_ENGINE_FAMILIES_SHARED_DECODER_HEADS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_DECODER_HEADS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"

namespace attend {

// Decoders that do not generate: they embed, label or rank what they read.

// Checks that a decoder-only family's file asks for no cross-attention.
absl::Status CheckDecoderAlone(const JsonFile& config);

// Makes of a decoder that generates, of family "Llama", what the file says:
// with LlamaForSequenceClassification, one that scores labels; with "is_causal"
// false, an encoder. To be called when spec and names are complete. `layers`
// score the labels, by default one without a bias.
absl::Status UseDecoderAs(
    const JsonFile& config, const std::string& name, Family& family,
    const std::vector<HeadLayer>& layers = {
        {.tensor = "score", .spec = {}, .bias = Bias::kNo}});

// Drops the vocabulary projection: prompts are embedded.
void PoolDecoder(Family& family);

// Makes an encoder of the decoder: all tokens of a text see each other.
void SeeBothWays(Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_DECODER_HEADS_H_
