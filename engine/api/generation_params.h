#ifndef ATTEND_ENGINE_API_GENERATION_PARAMS_H_
#define ATTEND_ENGINE_API_GENERATION_PARAMS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace attend {

enum class EarlyStopping { kFalse, kTrue, kNever };

// What one request may ask of generation. Names and meaning are those of
// transformers' GenerationConfig, for a batch of one. The values of a model
// (its generation_config.json and config.json) are the starting point; a
// request overrides single fields. Token ids are of the target vocabulary.
struct GenerationParams {
  // Tokens after the prompt or decoder start and the forced prefix; end of
  // sequence counts. Raising it holds memory of the KV pool longer.
  int max_new_tokens = 256;
  int min_new_tokens = 0;

  // 1: greedy or sampling. More: beam search; each beam is one more row a step.
  int num_beams = 1;
  // Results wanted: the n best beams (at most num_beams), or n samples.
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

  // Of tokens in the sequence, prompt or decoder start and prefix included.
  float repetition_penalty = 1.0f;  // > 0; 1: off
  // Of new tokens only. Subtracted from the logit (under beam search from the
  // log-probability), once for a token that is there, and for each time.
  float presence_penalty = 0.0f;
  float frequency_penalty = 0.0f;
  int no_repeat_ngram_size = 0;  // 0: off
  bool renormalize_logits = false;

  std::vector<std::vector<int>> bad_words;
  // Follows the prompt or the decoder start; unscored, and not in any length.
  std::vector<int> forced_prefix;
  // Any of these ends a sequence and is part of it: the model's
  // end-of-sequence ids, then the request's own stop ids.
  std::vector<int> eos_ids;
  std::vector<int> stop_ids;
  // A sequence ends with the token that completes one of these in its text.
  std::vector<std::string> stop_strings;

  int decoder_start_id = 0;  // where there is no prompt
  int pad_id = -1;           // -1: the model has none
  int forced_bos_id = -1;    // first new token; -1: none
  int forced_eos_id = -1;    // last allowed token; -1: none

  bool log_probs = false;  // of each token
  // Of the prompt's tokens too, and of the forced prefix. Not of models with an
  // encoder.
  bool prompt_log_probs = false;
  // Alternatives a token, most likely first. Above 0 implies log_probs.
  int top_log_probs = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_GENERATION_PARAMS_H_
