#ifndef ATTEND_SERVER_SERVICE_PARAMS_H_
#define ATTEND_SERVER_SERVICE_PARAMS_H_

#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/api/generation_params.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

inline constexpr int kMaxPriority = 10;  // either way

// The model's own parameters with those that the request sets in their place.
// INVALID_ARGUMENT names the field, its value and its limit. The seed is not
// drawn here.
absl::StatusOr<GenerationParams> MergeParams(const v1::GenerationParams& params,
                                             const ModelInfo& model,
                                             const Tokenizer& tokenizer);

// Those lengths of `params` that the request leaves open are cut to what fits
// the model after `known` decoder tokens and the forced prefix; those that it
// sets must fit.
absl::Status FitLengths(const v1::GenerationParams& request,
                        const ModelInfo& model, int known,
                        GenerationParams& params);

// What a model does by default; every scalar field is set, but no seed.
v1::GenerationParams DescribeParams(const GenerationParams& params);

absl::Status CheckPriority(int priority);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_PARAMS_H_
