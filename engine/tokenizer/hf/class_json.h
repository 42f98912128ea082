#ifndef ATTEND_ENGINE_TOKENIZER_HF_CLASS_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_HF_CLASS_JSON_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// Returns the tokenizer.json that the class of `config` makes of `text`, the
// contents of a tokenizer.json; `text` itself if the class takes the file as it
// is, or cannot take it; INVALID_ARGUMENT if it would make another vocabulary
// then. Completes `config` by the file: config.added becomes
// all tokens that are to be added to the tokenizer, in this order, and
// config.special becomes empty.
//
// A class of transformers 5.23 takes vocabulary, merges and post-processor from
// the file, and builds the rest itself, by tokenizer_config.json; see
// FindClassRow().
absl::StatusOr<std::string> ApplyClass(std::string text, HfConfig& config);

// Returns the post-processor of the class as JSON; null if that of the file
// stays. `id_of` gives the id of a token, -1 if there is none. `has_own`: the
// file has one.
nlohmann::json ClassPostProcessor(
    const HfConfig& config, bool has_own,
    const std::function<int(absl::string_view)>& id_of);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_CLASS_JSON_H_
