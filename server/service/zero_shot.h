#ifndef ATTEND_SERVER_SERVICE_ZERO_SHOT_H_
#define ATTEND_SERVER_SERVICE_ZERO_SHOT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"

namespace attend {

// Labels of natural language inference, among those of a model.
struct InferenceLabels {
  int entailment = 0;
  int contradiction = 0;
};

// As the zero-shot pipeline of transformers finds them: the first label that
// begins with "entail" in any case, and the first other one, which is the last
// one if the first is the entailment. nullopt: the model infers nothing.
std::optional<InferenceLabels> FindInferenceLabels(const ModelInfo& model);

// Classify with candidate_labels: the texts that make pairs with an input, and
// the scores of the labels. For models that infer, and models that choose.
class ZeroShot {
 public:
  // INVALID_ARGUMENT names the field that is wrong.
  static absl::StatusOr<ZeroShot> Create(const v1::ClassifyRequest& request,
                                         const ModelInfo& model);

  int size() const { return static_cast<int>(labels_.size()); }
  // The second text of a pair.
  const std::string& hypothesis(int label) const { return hypotheses_[label]; }
  // Adds the labels, best first. `logits` are those of the pairs, one after the
  // other.
  void AddLabels(absl::Span<const float> logits, int top,
                 google::protobuf::RepeatedPtrField<v1::LabelScore>* to) const;

 private:
  ZeroShot() = default;
  absl::Status ReadTemplate(const v1::ClassifyRequest& request);
  // The score of each label.
  std::vector<float> Scores(absl::Span<const float> logits) const;

  std::optional<InferenceLabels> inference_;  // nullopt: the model chooses
  bool multi_label_ = false;
  bool raw_ = false;
  std::vector<std::string> labels_;
  std::vector<std::string> hypotheses_;  // by label
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_ZERO_SHOT_H_
