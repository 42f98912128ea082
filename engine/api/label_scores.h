#ifndef ATTEND_ENGINE_API_LABEL_SCORES_H_
#define ATTEND_ENGINE_API_LABEL_SCORES_H_

namespace attend {

// The function that turns scores of labels into what a client reads.
enum class LabelScores {
  kSoftmax,  // over all labels: labels exclude each other
  kSigmoid,  // of each label: any number of labels may be true
  kRaw,      // none: regression
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_LABEL_SCORES_H_
