#ifndef ATTEND_ENGINE_API_OUTPUT_H_
#define ATTEND_ENGINE_API_OUTPUT_H_

#include <vector>

namespace attend {

// The reason why a generation ended without an error; errors are a Status.
enum class FinishReason { kNone, kEos, kMaxLength, kStopSequence };

struct TokenLogProb {
  int id = 0;
  float log_prob = 0;
};

// One result of a request. While the request runs, `tokens` holds the tokens
// that can no longer change. Under beam search these are in choice 0: the
// prefix that all live beams and all kept finished hypotheses share. The
// vectors only grow; room for the longest result is reserved from the start.
struct ChoiceOutput {
  std::vector<int> tokens;  // new tokens; end of sequence is one of them
  // Log-probability of each token. Filled if the request asks for
  // log-probabilities; always filled by ScoreTask.
  std::vector<float> log_probs;  // [tokens]
  // The most likely alternatives at each token, best first, if requested.
  std::vector<TokenLogProb> top;  // [tokens * top_log_probs]
  // The alignment of each token with each token of the source, if requested:
  // the attention of the decoder's last layer, averaged over its heads. The
  // weights of a token add up to 1. Must not be read before the request has
  // finished. Its memory is not reserved.
  std::vector<float> alignment;  // [tokens, source tokens]
  FinishReason finish = FinishReason::kNone;
  // Beam search: sum(log_probs) / length ^ length_penalty. Otherwise:
  // sum(log_probs) if the request asks for log-probabilities, otherwise 0.
  float score = 0;
};

struct SequenceOutput {
  std::vector<ChoiceOutput> choices;  // best first
  // With prompt_log_probs: all tokens of the prompt after the first, with their
  // log-probabilities. Complete before any choice has a token.
  ChoiceOutput prompt;
  // With EmbedTask: vectors, with several kinds concatenated. With
  // ClassifyTask: scores of the labels.
  std::vector<float> values;  // [rows, width], of the first kind
  int width = 0;
  bool finished = false;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_OUTPUT_H_
