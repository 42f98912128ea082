#ifndef ATTEND_ENGINE_TOKENIZER_FILES_MAKE_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_MAKE_TOKENIZER_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Makes the tokenizer of a tokenizer.json that was built of the file at `path`,
// with the changes of its class. INVALID_ARGUMENT names the file.
absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(
    const std::string& path, const nlohmann::json& json, HfConfig config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_MAKE_TOKENIZER_H_
