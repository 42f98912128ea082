#ifndef ATTEND_ENGINE_TOKENIZER_HF_CLASS_MODEL_H_
#define ATTEND_ENGINE_TOKENIZER_HF_CLASS_MODEL_H_

#include <nlohmann/json.hpp>

#include "engine/tokenizer/hf/class_values.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// Returns the model of a tokenizer.json that the class of `row` makes of the
// vocabulary and the merges of `from`, the model of a file; null if the class
// cannot take them.
nlohmann::json ClassModel(const nlohmann::json& row, const nlohmann::json& from,
                          const HfConfig& config, const ClassValues& values);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_CLASS_MODEL_H_
