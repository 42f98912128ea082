#ifndef ATTEND_ENGINE_RUNTIME_ADAPTER_VOCABULARY_H_
#define ATTEND_ENGINE_RUNTIME_ADAPTER_VOCABULARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/checkpoint/lora/lora_source.h"
#include "engine/families/shared/family.h"
#include "engine/runtime/model_files.h"

namespace attend {

// Gives the model as many tokens as the tables of its adapter have, where these
// have more rows. Returns true if there are more tokens now.
absl::StatusOr<bool> GrowVocabulary(const LoraSource& merged, Family& family);

// Loads the tokenizer and the chat template beside an adapter that has tokens
// of its own, where there are any, in place of the model's. Errors as those of
// LoadTokenizer() and CheckVocabularies().
absl::Status TakeTokenizer(const std::string& adapter, ModelFiles& files);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ADAPTER_VOCABULARY_H_
