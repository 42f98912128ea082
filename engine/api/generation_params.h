#ifndef ATTEND_ENGINE_API_GENERATION_PARAMS_H_
#define ATTEND_ENGINE_API_GENERATION_PARAMS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/api/constraint.h"
#include "engine/api/thought.h"

namespace attend {

enum class EarlyStopping { kFalse, kTrue, kNever };

// A token sequence whose last token becomes likelier or less likely if the
// others immediately precede it.
struct SequenceBias {
  std::vector<int> tokens;
  float bias = 0;  // added to the logit of the last token
};

// Parameters of generation. Names and meanings are those of transformers'
// GenerationConfig, for a batch of one. The defaults of a model come from its
// generation_config.json or config.json; a request overrides single fields.
// Token ids are of the target vocabulary. Limits: generation_limits.h.
struct GenerationParams {
  // Number of tokens after the forced prefix, end of sequence included.
  int max_new_tokens = 256;
  int min_new_tokens = 0;

  // 1: greedy search or sampling. Above 1: beam search, with one row per beam
  // in each step.
  int num_beams = 1;
  // The number of results: the best beams (at most num_beams), or samples.
  int num_return_sequences = 1;
  float length_penalty = 1.0f;
  EarlyStopping early_stopping = EarlyStopping::kFalse;

  // Sampling; num_beams must be 1.
  bool do_sample = false;
  float temperature = 1.0f;  // > 0
  int top_k = 50;            // 0: off
  float top_p = 1.0f;        // (0, 1]; 1: off
  float min_p = 0.0f;        // [0, 1]; 0: off
  uint64_t seed = 0;

  // For tokens that are in the sequence; prompt, decoder start and forced
  // prefix count.
  float repetition_penalty = 1.0f;  // > 0; 1: off
  // The logit (under beam search: the log-probability) of a token that occurs n
  // times among the new tokens becomes
  // logit - presence_penalty * (n > 0) - frequency_penalty * n.
  float presence_penalty = 0.0f;
  float frequency_penalty = 0.0f;
  int no_repeat_ngram_size = 0;  // 0: off
  bool renormalize_logits = false;

  std::vector<std::vector<int>> bad_words;
  // Entries of the same tokens add up.
  std::vector<SequenceBias> sequence_bias;
  // Tokens that are never generated, and those that are not generated first
  // (after the token that forced_bos_id forces, if it does).
  std::vector<int> suppress_tokens;
  std::vector<int> begin_suppress_tokens;
  // Words that each result of a beam search must contain, each by one of its
  // alternatives. No alternative begins with another one of the same word.
  std::vector<std::vector<std::vector<int>>> force_words;
  // A restriction of the text after the forced prefix; null: none. A sequence
  // ends with one of the tokens below only where the text may end;
  // max_new_tokens and stop strings end it anywhere.
  std::shared_ptr<const Constraint> constraint;
  // Tokens that follow the prompt or the decoder start in every result. They
  // are not scored, and no length counts them.
  std::vector<int> forced_prefix;
  // A sequence ends with the first of these tokens, and includes that token:
  // the model's end-of-sequence ids, and the request's own stop ids.
  std::vector<int> eos_ids;
  std::vector<int> stop_ids;
  // A sequence ends with the token that completes one of these strings after
  // the thought.
  std::vector<std::string> stop_strings;
  // The thought that the text may begin with.
  Thought thought;

  int decoder_start_id = 0;  // for models with an encoder
  int pad_id = -1;           // -1: the model has none
  int forced_bos_id = -1;    // the first new token; -1: any
  int forced_eos_id = -1;  // the last token that max_new_tokens allows; -1: any

  // Return the log-probability of each new token.
  bool log_probs = false;
  // Return the log-probabilities of the prompt and the forced prefix too; only
  // for models without an encoder.
  bool prompt_log_probs = false;
  // Return the most likely alternatives of each token, this many. A value above
  // 0 implies log_probs.
  int top_log_probs = 0;
  // Return the alignment of each result; only for models with an encoder.
  bool alignments = false;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_GENERATION_PARAMS_H_
