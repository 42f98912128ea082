#ifndef ATTEND_SERVER_SERVICE_LABELS_H_
#define ATTEND_SERVER_SERVICE_LABELS_H_

#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"

namespace attend {

// Turns the output of a head, one number for each label, into scores, in place.
// For a model with a single label kSoftmax means kSigmoid, as in transformers:
// the softmax of one number is always 1.
void ScoreLabels(LabelScores kind, absl::Span<float> scores);
// The softmax of all scores, in place, however few they are.
void SoftmaxScores(absl::Span<float> scores);

// Adds the `top` labels with the highest logits (0: all labels), highest first,
// with the scores that `kind` makes of the logits. Different logits may have
// equal scores, so the order is that of the logits; equal logits keep the order
// of the model's labels. `logits` has one number for each label of `model`.
void AddLabels(absl::Span<const float> logits, LabelScores kind,
               const ModelInfo& model, int top,
               google::protobuf::RepeatedPtrField<v1::LabelScore>* to);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_LABELS_H_
