#ifndef ATTEND_ENGINE_CHECKPOINT_FIT_NAMES_H_
#define ATTEND_ENGINE_CHECKPOINT_FIT_NAMES_H_

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/weights.h"

namespace attend {

// Strips what programs of training put before all names of a model's tensors
// ("module.", "_orig_mod.", "base_model.model.", "0.auto_model."): up to four
// parts that end with a dot, if more names are then those of the table. Names
// of folders stay.
void FitNames(const NameTable& names, Checkpoint& checkpoint);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_FIT_NAMES_H_
