#ifndef ATTEND_ENGINE_FAMILIES_SHARED_GENERATION_CONFIG_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_GENERATION_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/api/generation_params.h"
#include "engine/api/missing_default.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Defaults of generation, as the files of a model set them.
struct GenerationDefaults {
  GenerationParams params;
  // The longest and the shortest result of a model without an encoder, prompt
  // included, for requests that set no number of new tokens; 0: not set.
  int max_length = 0;
  int min_length = 0;
  // encoder_no_repeat_ngram_size: results have no n-gram of this length that
  // the source has; 0: they may. Requests cannot change it.
  int source_ngram_size = 0;
  std::vector<MissingDefault> missing;  // those that cannot be applied
  std::vector<std::string> warnings;    // for the log
};

// A model's own defaults of generation, as transformers 5.23 finds them: from
// generation_config.json in `directory`, or, where that file is missing (models
// saved before it existed), from config.json. What neither says has
// transformers' default, but for the longest result: transformers would stop
// after 20 tokens there, with a warning that nobody sees on a server.
//
// max_length and min_length count the prompt or the decoder start,
// max_new_tokens and min_new_tokens do not and win. The longest result is cut
// to the model's positions. A value that generate() ignores is ignored; one
// that it refuses, or that is not supported, is in `missing`. INVALID_ARGUMENT
// if a file is no JSON object, or if a model with an encoder has no decoder
// start.
absl::StatusOr<GenerationDefaults> LoadGenerationDefaults(
    const std::string& directory, const JsonFile& config,
    const TransformerSpec& spec);
// The same where config.json alone has them.
absl::StatusOr<GenerationDefaults> GenerationDefaultsOf(
    const JsonFile& config, const TransformerSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_GENERATION_CONFIG_H_
