#ifndef ATTEND_ENGINE_FAMILIES_CTRANSLATE2_LOAD_CTRANSLATE2_H_
#define ATTEND_ENGINE_FAMILIES_CTRANSLATE2_LOAD_CTRANSLATE2_H_

#include "absl/status/statusor.h"
#include "engine/checkpoint/ctranslate2/ct2_model.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"

namespace attend {

// The family of a model that CTranslate2 has converted. Its file does not name
// an architecture: attributes and variables say what is computed, whatever the
// model was before. `config` is config.json beside the file, which has the
// epsilon of norms.
//
// INVALID_ARGUMENT names the attribute or variable, and what is expected, if
// the model has something that is not computed. (What else is in the file,
// Weights::CheckAllRead() names.)
absl::StatusOr<Family> LoadCtranslate2(const Ct2Model& model,
                                       const JsonFile& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_CTRANSLATE2_LOAD_CTRANSLATE2_H_
