#ifndef ATTEND_ENGINE_FAMILIES_ENCODER_AS_DECODER_H_
#define ATTEND_ENGINE_FAMILIES_ENCODER_AS_DECODER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"

namespace attend {

// Encoders whose layers generate (Rothe et al. 2020): "is_decoder" is true in
// config.json, and the head is that of the masked language model.

// Loads the decoder of an encoder-decoder, which has cross-attention: its
// section of config.json. INVALID_ARGUMENT if its model_type is that of another
// family than BERT's and RoBERTa's.
absl::StatusOr<Family> LoadCrossDecoder(const JsonFile& section);

// Loads a decoder alone: BertLMHeadModel, BertGenerationDecoder.
absl::StatusOr<Family> LoadDecoderAlone(const JsonFile& config);

// Returns the slot of a decoder that has the place of an encoder's slot.
std::string DecoderSlot(absl::string_view slot);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_ENCODER_AS_DECODER_H_
