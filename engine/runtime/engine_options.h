#ifndef ATTEND_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
#define ATTEND_ENGINE_RUNTIME_ENGINE_OPTIONS_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "engine/ops/attention/kv_type.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/runtime/load_shortlist.h"
#include "engine/transformer/spec.h"

namespace attend {

struct EngineOptions {
  // The most rows of one step. A higher value gives more throughput and a later
  // first token, and takes more memory for activations.
  int max_step_rows = 1024;
  // The longest source or prompt; a longer one is refused. The memory for
  // encodes grows with this limit. 0: all positions of the model (without an
  // encoder: but one), as far as the buffer of encodes takes at most
  // kMaxDefaultEncodeBytes; kEncoderTokens if that is more, if the model has
  // no length of its own, or if there is too little memory.
  int max_source_tokens = 0;
  static constexpr int kEncoderTokens = 512;
  static constexpr size_t kMaxDefaultEncodeBytes = size_t{256} << 20;
  // Bytes of the KV pool, for self- and cross-attention together. With less
  // memory fewer sequences run at once, and more are preempted.
  size_t kv_cache_bytes = size_t{512} << 20;
  // The numbers of the keys and values in the pool; nullopt: DefaultKvType().
  std::optional<KvType> kv_cache_dtype = std::nullopt;
  // Whether keys and values that are still in the pool are found and used
  // again. In a model without an encoder: those of prompts with the same
  // beginning, and of generated tokens that a later prompt contains
  // (RadixAttention: Zheng et al. 2024; by blocks: vLLM). In a model with an
  // encoder: those that cross-attention reads of the same source. Results do
  // not change; with instructions older than AVX2 their rounding may.
  bool prefix_cache = true;
  // Whether tokens that may follow are drafted from the prompt, the source and
  // what is generated, and computed together with the token before them, while
  // a step has few rows (see PromptLookup). Results do not change, which takes
  // AVX2: with older instructions nothing is drafted.
  bool prompt_lookup = true;
  // The time of a row of the draft model, if there is one, for one of the
  // model: the higher, the more of its tokens must be accepted. nullopt: by the
  // numbers of weights; other values are for tests.
  std::optional<float> draft_cost = std::nullopt;
  // For a model with encoder and decoder: the file of its lexical shortlist.
  // Results are then those of a softmax over the tokens that it has for the
  // source (Shortlist::Find()); targets that are scored, and results with a
  // constraint, are not. Empty path: none.
  ShortlistFile shortlist = {};
  // The directory of a LoRA adapter that is merged into the weights; empty:
  // that in the model's own directory, if there is one.
  std::string adapter = {};
  // The most beams or samples of one request.
  int max_beams = 32;
  // The numbers of the matrix products; nullopt: DefaultComputeType()
  // of the model.
  std::optional<ComputeType> dtype = std::nullopt;

  // INVALID_ARGUMENT names the option, its value and the limits.
  absl::Status Validate() const;
};

// Fits options to the model that `spec` describes: max_source_tokens is set if
// it is 0, and limited to what the positions of the model allow. A model
// without a decoder gets no KV pool.
EngineOptions FitOptions(const TransformerSpec& spec, EngineOptions options);

// The default type of keys and values for a model that computes in `dtype`:
// int8 where it costs less than 0.1 % of perplexity, as measured.
KvType DefaultKvType(ComputeType dtype);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
