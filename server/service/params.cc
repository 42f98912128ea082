#include "server/service/params.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/api/generation_limits.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/too_many_tokens.h"
#include "server/scheduler/request.h"
#include "server/service/param_lists.h"

namespace attend {
namespace {

absl::Status CheckRange(absl::string_view field, int value, int low, int high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      field, " is ", value, ", must be in [", low, ", ", high, "]"));
}

// The mode of the request (beams or sampling) replaces the mode of the model. A
// request that asks for sampling and does not set the number of beams gets no
// beams.
void MergeMode(const v1::GenerationParams& from, GenerationParams& to) {
  if (from.has_num_beams()) {
    to.num_beams = from.num_beams();
    if (to.num_beams > 1) to.do_sample = false;
  }
  if (from.has_do_sample()) {
    to.do_sample = from.do_sample();
    if (to.do_sample && !from.has_num_beams()) to.num_beams = 1;
  }
  if (from.has_num_return_sequences()) {
    to.num_return_sequences = from.num_return_sequences();
  }
}

// Checks beams and samples against the model's limit. The model may return more
// sequences by default than the request's mode can give: then there are fewer.
absl::Status FitMode(const v1::GenerationParams& request,
                     const ModelInfo& model, GenerationParams& params) {
  RETURN_IF_ERROR(
      CheckRange("params.num_beams", params.num_beams, 1, model.max_beams));
  if (params.do_sample && params.num_beams > 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "params.do_sample is true and params.num_beams is %d: sampling has no "
        "beams",
        params.num_beams));
  }
  const int limit = params.do_sample ? model.max_beams : params.num_beams;
  if (!request.has_num_return_sequences()) {
    params.num_return_sequences = std::min(params.num_return_sequences, limit);
  }
  return CheckRange("params.num_return_sequences", params.num_return_sequences,
                    1, limit);
}

absl::Status MergeEarlyStopping(const v1::GenerationParams& from,
                                GenerationParams& to) {
  switch (from.early_stopping()) {
    case v1::EARLY_STOPPING_UNSPECIFIED:
      return absl::OkStatus();
    case v1::EARLY_STOPPING_FALSE:
      to.early_stopping = EarlyStopping::kFalse;
      return absl::OkStatus();
    case v1::EARLY_STOPPING_TRUE:
      to.early_stopping = EarlyStopping::kTrue;
      return absl::OkStatus();
    case v1::EARLY_STOPPING_NEVER:
      to.early_stopping = EarlyStopping::kNever;
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError(
          absl::StrFormat("params.early_stopping is %d, must be in [0, 3]",
                          static_cast<int>(from.early_stopping())));
  }
}

void MergeNumbers(const v1::GenerationParams& from, GenerationParams& to) {
  if (from.has_temperature()) to.temperature = from.temperature();
  if (from.has_top_k()) to.top_k = from.top_k();
  if (from.has_top_p()) to.top_p = from.top_p();
  if (from.has_min_p()) to.min_p = from.min_p();
  if (from.has_seed()) to.seed = from.seed();
  if (from.has_length_penalty()) to.length_penalty = from.length_penalty();
  if (from.has_repetition_penalty()) {
    to.repetition_penalty = from.repetition_penalty();
  }
  if (from.has_presence_penalty()) {
    to.presence_penalty = from.presence_penalty();
  }
  if (from.has_frequency_penalty()) {
    to.frequency_penalty = from.frequency_penalty();
  }
  if (from.has_no_repeat_ngram_size()) {
    to.no_repeat_ngram_size = from.no_repeat_ngram_size();
  }
  if (from.has_log_probs()) to.log_probs = from.log_probs();
  if (from.has_top_log_probs()) to.top_log_probs = from.top_log_probs();
}

// A request may ask for its prompt only of a model that continues its source.
absl::Status CheckPromptAsked(const v1::GenerationParams& params,
                              const ModelInfo& model) {
  if (model.continues_source) return absl::OkStatus();
  if (!params.echo() && !params.prompt_log_probs()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "params.%s is true, but model '%s' does not continue its source",
      params.echo() ? "echo" : "prompt_log_probs", model.name));
}

v1::EarlyStopping DescribeEarlyStopping(EarlyStopping stopping) {
  switch (stopping) {
    case EarlyStopping::kFalse:
      return v1::EARLY_STOPPING_FALSE;
    case EarlyStopping::kTrue:
      return v1::EARLY_STOPPING_TRUE;
    case EarlyStopping::kNever:
      return v1::EARLY_STOPPING_NEVER;
  }
  return v1::EARLY_STOPPING_UNSPECIFIED;
}

// As many as the positions leave, and the memory for keys and values. At least
// 1, for the engine to refuse.
int MostNewTokens(const ModelInfo& model, int known,
                  const GenerationParams& params) {
  int most = model.max_target_tokens;
  if (model.kv_blocks > 0) {
    const int hypotheses =
        std::max(params.num_beams, params.num_return_sequences);
    most = std::min(most, model.kv_blocks / hypotheses * model.block_tokens);
  }
  return std::max(most - known, 1);
}

// The model's max_length counts the prompt.
absl::Status FitModelLength(const ModelInfo& model, int known,
                            GenerationParams& params) {
  if (model.max_length == 0) return absl::OkStatus();
  params.max_new_tokens = model.max_length - known;
  if (params.max_new_tokens > 0) return absl::OkStatus();
  return TooManyTokensError(absl::StrFormat(
      "prompt has %d tokens, the model's default max_length is %d, prompt "
      "included: set params.max_new_tokens",
      known, model.max_length));
}

// Returns true if results of `params` depend on a missing default.
bool ReliesOn(MissingDefault::When when, const GenerationParams& params) {
  switch (when) {
    case MissingDefault::When::kAlways:
      return true;
    case MissingDefault::When::kSampling:
      return params.do_sample;
    case MissingDefault::When::kGreedy:
      return !params.do_sample && params.num_beams == 1;
    case MissingDefault::When::kNoBeams:
      return params.num_beams == 1;
    case MissingDefault::When::kBeams:
      return params.num_beams > 1;
  }
  return true;
}

bool Sets(const v1::GenerationParams& request, const std::string& field) {
  const auto* const found = request.GetDescriptor()->FindFieldByName(field);
  if (found == nullptr) return false;
  const auto* const reflection = request.GetReflection();
  return found->is_repeated() ? reflection->FieldSize(request, found) > 0
                              : reflection->HasField(request, found);
}

// Refuses a request that relies on a default which cannot be applied.
absl::Status CheckMissing(const v1::GenerationParams& request,
                          const ModelInfo& model,
                          const GenerationParams& params) {
  for (const MissingDefault& missing : model.missing_defaults) {
    if (!ReliesOn(missing.when, params)) continue;
    if (Sets(request, missing.field)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the model's default cannot be applied: ", missing.message,
        missing.field.empty() ? "" : "; set params.", missing.field));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPriority(int priority) {
  return CheckRange("priority", priority, -kMaxPriority, kMaxPriority);
}

absl::Status FitLengths(const v1::GenerationParams& request,
                        const ModelInfo& model, int known,
                        GenerationParams& params) {
  const int prefix = static_cast<int>(params.forced_prefix.size());
  const int limit = model.max_target_tokens - known - prefix;
  if (limit < 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("forced prefix has %d tokens, limit is %d", prefix,
                        limit + prefix - 1));
  }
  if (!request.has_max_new_tokens()) {
    RETURN_IF_ERROR(FitModelLength(model, known + prefix, params));
    params.max_new_tokens = std::min(params.max_new_tokens, limit);
  } else if (request.max_new_tokens() == 0) {
    params.max_new_tokens = MostNewTokens(model, known + prefix, params);
  } else {
    params.max_new_tokens = request.max_new_tokens();
  }
  const absl::Status most =
      CheckRange("params.max_new_tokens", params.max_new_tokens, 1, limit);
  if (!most.ok() && params.max_new_tokens > limit) {
    return TooManyTokensError(most.message());
  }
  RETURN_IF_ERROR(most);
  if (model.min_length > 0) {
    params.min_new_tokens = std::max(model.min_length - known - prefix, 0);
  }
  params.min_new_tokens =
      request.has_min_new_tokens()
          ? request.min_new_tokens()
          : std::min(params.min_new_tokens, params.max_new_tokens);
  return CheckRange("params.min_new_tokens", params.min_new_tokens, 0,
                    params.max_new_tokens);
}

absl::StatusOr<GenerationParams> MergeParams(const v1::GenerationParams& params,
                                             const ModelInfo& model,
                                             const Tokenizer& tokenizer) {
  GenerationParams merged = model.generation;
  RETURN_IF_ERROR(MergeParamLists(params, model, tokenizer, merged));
  MergeMode(params, merged);
  MergeNumbers(params, merged);
  RETURN_IF_ERROR(MergeEarlyStopping(params, merged));
  RETURN_IF_ERROR(CheckMissing(params, model, merged));
  RETURN_IF_ERROR(CheckLimits(merged, "params."));
  RETURN_IF_ERROR(FitMode(params, model, merged));
  RETURN_IF_ERROR(FitLengths(params, model, 1, merged));
  RETURN_IF_ERROR(CheckPromptAsked(params, model));
  merged.prompt_log_probs = params.prompt_log_probs();
  return merged;
}

v1::GenerationParams DescribeParams(const GenerationParams& params) {
  v1::GenerationParams out;
  out.set_max_new_tokens(params.max_new_tokens);
  out.set_min_new_tokens(params.min_new_tokens);
  out.set_num_beams(params.num_beams);
  out.set_num_return_sequences(params.num_return_sequences);
  out.set_length_penalty(params.length_penalty);
  out.set_early_stopping(DescribeEarlyStopping(params.early_stopping));
  out.set_do_sample(params.do_sample);
  out.set_temperature(params.temperature);
  out.set_top_k(params.top_k);
  out.set_top_p(params.top_p);
  out.set_min_p(params.min_p);
  out.set_repetition_penalty(params.repetition_penalty);
  out.set_presence_penalty(params.presence_penalty);
  out.set_frequency_penalty(params.frequency_penalty);
  out.set_no_repeat_ngram_size(params.no_repeat_ngram_size);
  for (const std::vector<int>& word : params.bad_words) {
    out.add_bad_words()->mutable_ids()->Add(word.begin(), word.end());
  }
  for (const SequenceBias& entry : params.sequence_bias) {
    v1::SequenceBias& to = *out.add_sequence_bias();
    to.mutable_tokens()->mutable_ids()->Add(entry.tokens.begin(),
                                            entry.tokens.end());
    to.set_bias(entry.bias);
  }
  out.mutable_suppress_tokens()->Add(params.suppress_tokens.begin(),
                                     params.suppress_tokens.end());
  out.mutable_begin_suppress_tokens()->Add(params.begin_suppress_tokens.begin(),
                                           params.begin_suppress_tokens.end());
  out.mutable_stop_ids()->Add(params.stop_ids.begin(), params.stop_ids.end());
  for (const std::string& stop : params.stop_strings) {
    out.add_stop_strings(stop);
  }
  out.set_log_probs(params.log_probs);
  out.set_top_log_probs(params.top_log_probs);
  out.set_prompt_log_probs(params.prompt_log_probs);
  out.set_echo(false);
  return out;
}

}  // namespace attend
