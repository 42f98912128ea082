#ifndef ATTEND_ENGINE_FAMILIES_SHARED_DROP_DECODER_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_DROP_DECODER_H_

#include "engine/families/shared/family.h"

namespace attend {

// Makes an encoder of an encoder-decoder, which then embeds texts only. The
// tensors of the decoder may still be in the checkpoint, or may be missing.
void DropDecoder(Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_DROP_DECODER_H_
