#ifndef ATTEND_SERVER_SERVICE_PARAM_LISTS_H_
#define ATTEND_SERVER_SERVICE_PARAM_LISTS_H_

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/api/generation_params.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Adds what a request says about tokens and texts (words, biases, ends, forced
// prefix) to `to`, which has what the model's files say. INVALID_ARGUMENT names
// the field, its value and its limit; sizes of whole lists are not checked.
absl::Status MergeParamLists(const v1::GenerationParams& from,
                             const ModelInfo& model, const Tokenizer& tokenizer,
                             GenerationParams& to);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_PARAM_LISTS_H_
