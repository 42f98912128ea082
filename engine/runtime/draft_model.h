#ifndef ATTEND_ENGINE_RUNTIME_DRAFT_MODEL_H_
#define ATTEND_ENGINE_RUNTIME_DRAFT_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "engine/api/engine_request.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/runtime/engine_options.h"
#include "engine/runtime/model_draft.h"
#include "engine/transformer/transformer.h"

namespace attend {

// A small model that drafts tokens for another one with the same tokens. Const;
// any thread may use it.
struct DraftModel {
  std::unique_ptr<const Transformer> transformer;
  // Of a Drafter's context.
  EngineOptions options;
  // The time of a row, for one of the other model.
  float cost = 0;
  // Ids that both models have, of sources and of texts.
  int source_vocab = 0;
  int vocab = 0;
  std::string family = {};

  // Of a Drafter's pool.
  KvLayout kv_layout() const;
  // The state of a sequence whose longest text has `tokens` rows. Null if the
  // draft model cannot read the input. `salt`: see EngineRequest::cache_salt.
  std::unique_ptr<ModelDraft> NewDraft(const EngineInput& input, int tokens,
                                       uint64_t salt = 0) const;
};

// The numbers of weights that a decoder's row is multiplied with, vocabulary
// projection included: the time of a step of few rows goes with them.
double DecoderRowCost(const TransformerSpec& spec);

// The options of the context in which `draft` drafts, in `dtype`, for a model
// with the options `of_target`, whose KV pool has `pool_tokens` tokens: so has
// that of the context.
EngineOptions DraftOptions(const TransformerSpec& draft, ComputeType dtype,
                           const EngineOptions& of_target, int pool_tokens);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DRAFT_MODEL_H_
