#include "server/service/labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace attend {
namespace {

void Sigmoid(absl::Span<float> values) {
  for (float& value : values) value = 1 / (1 + std::exp(-value));
}

}  // namespace

void SoftmaxScores(absl::Span<float> scores) {
  const float most = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (float& score : scores) sum += score = std::exp(score - most);
  for (float& score : scores) score /= sum;
}

void ScoreLabels(LabelScores kind, absl::Span<float> scores) {
  switch (kind) {
    case LabelScores::kSoftmax:
      return scores.size() == 1 ? Sigmoid(scores) : SoftmaxScores(scores);
    case LabelScores::kSigmoid:
      return Sigmoid(scores);
    case LabelScores::kRaw:
      return;
  }
}

void AddLabels(absl::Span<const float> logits, LabelScores kind,
               const ModelInfo& model, int top,
               google::protobuf::RepeatedPtrField<v1::LabelScore>* to) {
  std::vector<float> scores(logits.begin(), logits.end());
  ScoreLabels(kind, absl::MakeSpan(scores));
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return logits[a] > logits[b]; });
  if (top > 0 && top < static_cast<int>(order.size())) order.resize(top);
  for (const int index : order) {
    v1::LabelScore* label = to->Add();
    label->set_label(model.labels[index]);
    label->set_index(index);
    label->set_score(scores[index]);
  }
}

}  // namespace attend
