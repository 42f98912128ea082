#include "server/service/zero_shot.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/service/labels.h"

namespace attend {
namespace {

constexpr char kInferenceTemplate[] = "This example is {}.";
constexpr char kChoiceTemplate[] = "{}";
constexpr char kPlace[] = "{}";

absl::Status CheckLabels(const v1::ClassifyRequest& request,
                         const ModelInfo& model) {
  if (!model.chooses && !FindInferenceLabels(model)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "candidate_labels is set, but model '%s' has no label that begins with "
        "'entail', and is not for multiple choice",
        model.name));
  }
  for (int i = 0; i < request.candidate_labels_size(); ++i) {
    if (!request.candidate_labels(i).empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("candidate_labels[%d] is empty", i));
  }
  if (model.chooses && request.multi_label()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "multi_label is true, but model '%s' chooses one of the labels",
        model.name));
  }
  if (request.raw_scores() && request.multi_label()) {
    return absl::InvalidArgumentError(
        "raw_scores and multi_label are true, only one of them may be");
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<InferenceLabels> FindInferenceLabels(const ModelInfo& model) {
  if (!model.classifies || model.labels_tokens || model.labels.size() < 2) {
    return std::nullopt;
  }
  const auto found = std::find_if(
      model.labels.begin(), model.labels.end(), [](const std::string& label) {
        return absl::StartsWith(absl::AsciiStrToLower(label), "entail");
      });
  if (found == model.labels.end()) return std::nullopt;
  const int entailment = static_cast<int>(found - model.labels.begin());
  const int last = static_cast<int>(model.labels.size()) - 1;
  return InferenceLabels{.entailment = entailment,
                         .contradiction = entailment == 0 ? last : 0};
}

absl::StatusOr<ZeroShot> ZeroShot::Create(const v1::ClassifyRequest& request,
                                          const ModelInfo& model) {
  RETURN_IF_ERROR(CheckLabels(request, model));
  ZeroShot result;
  if (!model.chooses) result.inference_ = FindInferenceLabels(model);
  result.raw_ = request.raw_scores();
  // One label has nobody to compete with.
  result.multi_label_ =
      result.inference_ && !result.raw_ &&
      (request.multi_label() || request.candidate_labels_size() == 1);
  result.labels_.assign(request.candidate_labels().begin(),
                        request.candidate_labels().end());
  RETURN_IF_ERROR(result.ReadTemplate(request));
  return result;
}

absl::Status ZeroShot::ReadTemplate(const v1::ClassifyRequest& request) {
  std::string text = request.hypothesis_template();
  if (text.empty()) text = inference_ ? kInferenceTemplate : kChoiceTemplate;
  const size_t at = text.find(kPlace);
  const auto braces = std::count_if(
      text.begin(), text.end(), [](char c) { return c == '{' || c == '}'; });
  if (at == std::string::npos || braces != 2) {
    return absl::InvalidArgumentError(
        "hypothesis_template must have {} once, and no other braces");
  }
  const std::string before = text.substr(0, at);
  const std::string after = text.substr(at + 2);
  hypotheses_.reserve(labels_.size());
  for (const std::string& label : labels_) {
    hypotheses_.push_back(absl::StrCat(before, label, after));
  }
  return absl::OkStatus();
}

std::vector<float> ZeroShot::Scores(absl::Span<const float> logits) const {
  const size_t width = logits.size() / labels_.size();
  std::vector<float> scores;
  scores.reserve(labels_.size());
  for (size_t i = 0; i < labels_.size(); ++i) {
    const auto of_pair = logits.subspan(i * width, width);
    const float logit = of_pair[inference_ ? inference_->entailment : 0];
    if (!multi_label_) {
      scores.push_back(logit);
      continue;
    }
    float both[] = {of_pair[inference_->contradiction], logit};
    SoftmaxScores(absl::MakeSpan(both));
    scores.push_back(both[1]);
  }
  if (!multi_label_ && !raw_) SoftmaxScores(absl::MakeSpan(scores));
  return scores;
}

void ZeroShot::AddLabels(
    absl::Span<const float> logits, int top,
    google::protobuf::RepeatedPtrField<v1::LabelScore>* to) const {
  const std::vector<float> scores = Scores(logits);
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return scores[a] > scores[b]; });
  if (top > 0 && top < static_cast<int>(order.size())) order.resize(top);
  for (const int index : order) {
    v1::LabelScore* const label = to->Add();
    label->set_label(labels_[index]);
    label->set_index(index);
    label->set_score(scores[index]);
  }
}

}  // namespace attend
