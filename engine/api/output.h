#ifndef ATTEND_ENGINE_API_OUTPUT_H_
#define ATTEND_ENGINE_API_OUTPUT_H_

#include <vector>

namespace attend {

// Why a generation ended that ended well; everything else is a Status.
enum class FinishReason { kNone, kEos, kMaxLength, kStopSequence };

struct TokenLogProb {
  int id = 0;
  float log_prob = 0;
};

// One result of a request. While the request runs, `tokens` holds what can no
// longer change: under beam search the prefix that all live beams and all kept
// finished hypotheses share, in choice 0. Vectors only grow, and are reserved
// for the longest result beforehand.
struct ChoiceOutput {
  std::vector<int> tokens;  // new tokens; end of sequence is one of them
  // Raw log-softmax of each token; filled if asked for (and by Score).
  std::vector<float> log_probs;  // [tokens]
  // The most likely alternatives at each token, best first, if asked for.
  std::vector<TokenLogProb> top;  // [tokens * top_log_probs]
  FinishReason finish = FinishReason::kNone;
  // Beam search: sum of log-probabilities / length ^ length_penalty.
  // Otherwise: the sum of the log-probabilities of the tokens if they were
  // asked for, else 0.
  float score = 0;
};

struct SequenceOutput {
  std::vector<ChoiceOutput> choices;  // best first
  // If asked for: the prompt's tokens but for the first, which nothing comes
  // before, as a Scorer gives them. All at once, before any token of a choice.
  ChoiceOutput prompt;
  // Of an encoder's request: vectors or labels' scores, `width` to a row.
  std::vector<float> values;  // [rows, width]
  int width = 0;
  bool finished = false;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_OUTPUT_H_
