#ifndef ATTEND_ENGINE_FAMILIES_SHARED_GENERATION_CONFIG_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_GENERATION_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/api/generation_params.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// A model's own defaults of generation, as transformers 5.23 finds them: from
// generation_config.json in `directory`, or, where that file is missing (models
// saved before it existed), from config.json. What neither says has
// transformers' default, but for the longest result: transformers would stop
// after 20 tokens there, with a warning that nobody sees on a server.
//
// max_length and min_length count the decoder start, max_new_tokens and
// min_new_tokens do not and win. The longest result is cut to the model's
// positions. INVALID_ARGUMENT names the file and the field if a value is not
// within generation_limits.h, a token id is not in the target vocabulary, or a
// field that would change the result is not supported.
absl::StatusOr<GenerationParams> LoadGenerationParams(
    const std::string& directory, const JsonFile& config,
    const TransformerSpec& spec);
// The same where config.json alone has them.
absl::StatusOr<GenerationParams> GenerationParamsOf(
    const JsonFile& config, const TransformerSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_GENERATION_CONFIG_H_
