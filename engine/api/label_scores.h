#ifndef ATTEND_ENGINE_API_LABEL_SCORES_H_
#define ATTEND_ENGINE_API_LABEL_SCORES_H_

namespace attend {

// The function that converts the logits of labels to the scores of a client.
enum class LabelScores {
  kSoftmax,  // over all labels: labels exclude each other
  kSigmoid,  // per label: any number of labels may be true
  kRaw,      // none: regression
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_LABEL_SCORES_H_
