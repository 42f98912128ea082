#ifndef ATTEND_ENGINE_FAMILIES_GGUF_LOAD_GGUF_H_
#define ATTEND_ENGINE_FAMILIES_GGUF_LOAD_GGUF_H_

#include "absl/status/statusor.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"

namespace attend {

// A family as a GGUF file describes it.
struct GgufFamily {
  // What config.json of the model would say, and the ids of the tokens that
  // begin and end texts.
  JsonFile config;
  Family family;  // names are those of the file's tensors
};

// The family that general.architecture names. INVALID_ARGUMENT names the file,
// the key, its value and what is supported.
absl::StatusOr<GgufFamily> LoadGguf(const GgufFile& file);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_GGUF_LOAD_GGUF_H_
