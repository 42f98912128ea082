#ifndef ATTEND_ENGINE_FAMILIES_SHARED_DECODER_SECTION_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_DECODER_SECTION_H_

#include "engine/json/json_file.h"

namespace attend {

// A config.json in which the configuration of the decoder, or of the language
// model of one that sees, is a section: its fields stand for those that are
// absent outside of it, as transformers reads defaults of generation. Any other
// config.json stays what it is.
JsonFile WithDecoderSection(const JsonFile& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_DECODER_SECTION_H_
