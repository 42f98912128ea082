#ifndef ATTEND_ENGINE_API_LABEL_SCORES_H_
#define ATTEND_ENGINE_API_LABEL_SCORES_H_

namespace attend {

// How a label's score becomes what a user reads.
enum class LabelScores {
  kSoftmax,  // labels exclude each other
  kSigmoid,  // each label on its own
  kRaw,      // regression
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_LABEL_SCORES_H_
