#ifndef ATTEND_SERVER_SERVICE_PARAMS_H_
#define ATTEND_SERVER_SERVICE_PARAMS_H_

#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/api/generation_params.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The parameters of the model, overridden by those that the request sets.
// INVALID_ARGUMENT names the field, its value and its limit. Draws no seed: if
// the request has no seed, the result has none either.
absl::StatusOr<GenerationParams> MergeParams(const v1::GenerationParams& params,
                                             const ModelInfo& model,
                                             const Tokenizer& tokenizer);

// Fits the lengths of `params` to the model's positions, of which `known`
// decoder tokens and the forced prefix take some. A length that the request
// leaves unset is cut. A length that the request sets must fit: otherwise
// INVALID_ARGUMENT with the length and the limit.
absl::Status FitLengths(const v1::GenerationParams& request,
                        const ModelInfo& model, int known,
                        GenerationParams& params);

// The parameters of a model as GetModel returns them. All scalar fields are
// set, except the seed.
v1::GenerationParams DescribeParams(const GenerationParams& params);

// INVALID_ARGUMENT unless the priority is in [-kMaxPriority, kMaxPriority].
absl::Status CheckPriority(int priority);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_PARAMS_H_
