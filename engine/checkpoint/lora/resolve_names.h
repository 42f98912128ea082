#ifndef ATTEND_ENGINE_CHECKPOINT_LORA_RESOLVE_NAMES_H_
#define ATTEND_ENGINE_CHECKPOINT_LORA_RESOLVE_NAMES_H_

#include "absl/strings/string_view.h"
#include "engine/checkpoint/weights.h"

namespace attend {

// Returns the first row that reads a tensor; null if none does.
const NameRow* RowThatReads(const NameTable& names, absl::string_view tensor);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_LORA_RESOLVE_NAMES_H_
