#include "server/openai/generation.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

// What search the request wants, as attend.v1 says it.
absl::Status FinishSearch(const ModelInfo& model,
                          GenerationRequest& generation) {
  v1::GenerationParams& params = generation.params();
  if (generation.beam_search && !params.has_num_beams()) {
    params.set_num_beams(std::max(generation.choices, 1));
  }
  const bool beams = generation.beam_search || params.num_beams() > 1;
  // As the model gets it.
  const auto temperature =
      static_cast<float>(generation.temperature.value_or(0));
  if (beams && temperature > 0) {
    return FieldError("temperature",
                      absl::StrCat("is ", *generation.temperature,
                                   ", must be 0 or absent with beams"));
  }
  // Without a temperature a model that continues text samples, as OpenAI's do.
  // Models that translate and their like have defaults of their own.
  const bool samples = generation.temperature.has_value()
                           ? temperature > 0
                           : model.continues_source &&
                                 !params.has_num_beams() &&
                                 model.generation.num_beams == 1;
  if (samples) {
    params.set_do_sample(true);
    if (generation.temperature) params.set_temperature(temperature);
    // 50 is the default of attend.v1; OpenAI has no such limit.
    constexpr int kDefaultTopK = 50;
    if (!params.has_top_k() && model.generation.top_k == kDefaultTopK) {
      params.set_top_k(0);
    }
  } else if (generation.temperature.has_value() || params.has_num_beams()) {
    params.set_do_sample(false);
    if (!params.has_num_beams()) params.set_num_beams(1);
  }
  generation.copies = params.num_beams() == 1 && !params.do_sample();
  // Whatever number the model's own defaults have.
  if (!generation.copies) params.set_num_return_sequences(generation.choices);
  return absl::OkStatus();
}

absl::Status FinishLength(const ModelInfo& model,
                          std::optional<int> default_max_tokens,
                          GenerationRequest& generation) {
  v1::GenerationParams& params = generation.params();
  const auto& older = generation.max_tokens;
  const auto& newer = generation.max_completion_tokens;
  if (older && newer && *older != *newer) {
    return FieldError("max_tokens",
                      absl::StrCat("is ", *older, ", max_completion_tokens is ",
                                   *newer, ": must be the same"));
  }
  if (generation.unlimited) {
    default_max_tokens.reset();
    if (model.continues_source) default_max_tokens = 0;
  }
  if (newer || older) {
    params.set_max_new_tokens(static_cast<int>(newer ? *newer : *older));
  } else if (default_max_tokens) {
    params.set_max_new_tokens(*default_max_tokens);
  }
  if (!generation.ignore_eos) return absl::OkStatus();
  if (!newer && !older) {
    return FieldError("ignore_eos", "is true, needs max_tokens");
  }
  params.set_min_new_tokens(params.max_new_tokens());
  return absl::OkStatus();
}

}  // namespace

absl::Status Finish(const ModelInfo& model,
                    std::optional<int> default_max_tokens,
                    GenerationRequest& generation) {
  if (generation.best_of.value_or(generation.choices) != generation.choices) {
    return FieldError("best_of",
                      absl::StrCat("is ", *generation.best_of,
                                   ", must be n: ", generation.choices));
  }
  if (generation.include_usage && !generation.streams) {
    return FieldError("stream_options", "is given, needs stream: true");
  }
  RETURN_IF_ERROR(FinishSearch(model, generation));
  RETURN_IF_ERROR(FinishLength(model, default_max_tokens, generation));
  v1::GenerationParams& params = generation.params();
  params.set_log_probs(generation.log_probs);
  if (generation.log_probs) {
    params.set_top_log_probs(generation.top_log_probs);
  }
  return absl::OkStatus();
}

FieldNames GenerationFieldNames() {
  static constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"params.max_new_tokens", "max_tokens"},
      {"params.min_new_tokens", "min_tokens"},
      {"params.num_return_sequences", "n"},
      {"params.num_beams", "num_beams"},
      {"params.length_penalty", "length_penalty"},
      {"params.temperature", "temperature"},
      {"params.top_k", "top_k"},
      {"params.top_p", "top_p"},
      {"params.min_p", "min_p"},
      {"params.repetition_penalty", "repetition_penalty"},
      {"params.presence_penalty", "presence_penalty"},
      {"params.frequency_penalty", "frequency_penalty"},
      {"params.no_repeat_ngram_size", "no_repeat_ngram_size"},
      {"params.stop_ids", "stop_token_ids"},
      {"params.stop_strings", "stop"},
      {"params.top_log_probs", "top_logprobs"},
      {"params.logit_bias", "logit_bias"},
      {"params.prompt_log_probs", "logprobs"},
      {"params.echo", "echo"},
      {"params.cache_salt", "cache_salt"},
      {"inputs", "prompt"},
  };
  return kNames;
}

}  // namespace attend
