#ifndef ATTEND_SERVER_SERVICE_LABELS_H_
#define ATTEND_SERVER_SERVICE_LABELS_H_

#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"

namespace attend {

// Makes of a head's output, one number a label, what users read. Of a single
// label kSoftmax is kSigmoid, as in transformers: it would always be 1.
void ScoreLabels(LabelScores kind, absl::Span<float> scores);

// Adds the best `top` labels (0: all) of `scores`, best first; of equal ones
// the first of the model's labels.
void AddLabels(absl::Span<const float> scores, const ModelInfo& model, int top,
               google::protobuf::RepeatedPtrField<v1::LabelScore>* to);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_LABELS_H_
