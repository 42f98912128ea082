#ifndef ATTEND_ENGINE_FAMILIES_SHARED_SEQ2SEQ_HEADS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_SEQ2SEQ_HEADS_H_

#include "absl/status/status.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Adds the head of an encoder-decoder, as BART has it (Lewis et al. 2020), and
// reads its labels. Labels of texts (kSequence), at the end of sequence, and
// spans (kSpans) come from the decoder, which reads the source; labels of
// tokens (kTokens) from the encoder, which then is alone. `labels`: their
// number if config.json does not say it.
absl::Status AddSeq2seqHead(const JsonFile& config, HeadKind head, int labels,
                            Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_SEQ2SEQ_HEADS_H_
