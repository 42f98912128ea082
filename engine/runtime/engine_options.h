#ifndef ATTEND_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
#define ATTEND_ENGINE_RUNTIME_ENGINE_OPTIONS_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "engine/ops/attention/kv_type.h"
#include "engine/ops/exec/compute_type.h"

namespace attend {

struct EngineOptions {
  // Rows one step computes at most. Higher: more throughput, later first
  // token, and activations take more memory.
  int max_step_rows = 1024;
  // Longest source; longer ones are refused. Memory for encodes under way
  // grows with it. 0: kEncoderTokens, or where nothing is encoded all that the
  // model has positions for.
  int max_source_tokens = 0;
  static constexpr int kEncoderTokens = 512;
  // Bytes of the KV pool, self- and cross-attention together. Lower: fewer
  // sequences at once, then preemption.
  size_t kv_cache_bytes = size_t{512} << 20;
  // Of the keys and values in the pool; none: DefaultKvType().
  std::optional<KvType> kv_cache_dtype = std::nullopt;
  // What is still in the pool is not computed again. Of a model that is a
  // decoder alone: what prompts have in common with earlier ones, and their
  // continuations (RadixAttention: Zheng et al. 2024; by blocks: vLLM). Of one
  // with an encoder: what a decoder attends to of the same source. Changes no
  // result, but for the rounding of instructions older than AVX-512.
  bool prefix_cache = true;
  // Beams or samples of one request.
  int max_beams = 32;
  // Of the matmuls; none: bf16 where the CPU multiplies it natively, else
  // f32.
  std::optional<ComputeType> dtype = std::nullopt;
  absl::Status Validate() const;
};

// What keys and values are kept in for a model that computes in `dtype`.
KvType DefaultKvType(ComputeType dtype);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
