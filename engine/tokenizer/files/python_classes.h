#ifndef ATTEND_ENGINE_TOKENIZER_FILES_PYTHON_CLASSES_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_PYTHON_CLASSES_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// Classes of transformers 5.23 that are programs of Python, without a
// tokenizer.json, but simple: a tokenizer.json that gives the same ids and
// texts.

// The special tokens of a class where the files say nothing; empty if it is
// none of these classes.
HfPartSettings PythonClassSettings(absl::string_view tokenizer_class);

// ByT5Tokenizer: a token for each byte, from id 3 on, and no file.
absl::StatusOr<nlohmann::json> ByteTokensJson(const HfConfig& config);

// EsmTokenizer: the tokens of `path`, a line each, wherever they are in a text.
absl::StatusOr<nlohmann::json> PlainTokensJson(const std::string& path,
                                               const HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_PYTHON_CLASSES_H_
