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

// The classes of a family of decoders.
struct DecoderClasses {
  std::string name;                       // "Llama"
  std::string generates = "ForCausalLM";  // ending of the class that generates
  // The layers of <name>ForSequenceClassification.
  std::vector<HeadLayer> labels = {
      {.tensor = "score", .spec = {}, .bias = Bias::kNo}};
  // The layer of <name>ForTokenClassification; empty: there is no such class.
  std::string token_layer = "score";
  // The id of padding if config.json has no pad_token_id; -1: none. An id
  // beyond the vocabulary is none, too.
  int padding_id = -1;
  bool both_ways = true;  // "is_causal" may be false
};

// Makes of a decoder that generates what the file says: with
// <name>ForSequenceClassification, one that scores labels by the last token;
// with <name>ForTokenClassification, one that labels tokens; with "is_causal"
// false, an encoder. To be called when spec and names are complete.
absl::Status UseDecoderAs(const JsonFile& config, const DecoderClasses& classes,
                          Family& family);

// Drops the vocabulary projection: prompts are embedded. INVALID_ARGUMENT if a
// plain map to another width comes before the projection, which is the
// decoder's own; a layer with an activation or a norm is the head's.
absl::Status PoolDecoder(Family& family);

// Makes an encoder of the decoder: all tokens of a text see each other. Errors
// as PoolDecoder().
absl::Status SeeBothWays(Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_DECODER_HEADS_H_
