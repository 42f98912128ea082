#ifndef ATTEND_ENGINE_FAMILIES_SHARED_EXTRA_TENSORS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_EXTRA_TENSORS_H_

#include "engine/checkpoint/weights.h"
#include "engine/transformer/spec.h"

namespace attend {

// Lists tensors that files have beside those of the model which config.json
// names, and that transformers ignores, too: heads of other classes, and
// buffers that are computed.
void AddExtraTensors(const TransformerSpec& spec, NameTable& names);

// Lets tensors be read without the prefix that a class with a head has before
// the names of the bare model ("bert.", "model."), whose file has none.
void AddBareNames(NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_EXTRA_TENSORS_H_
