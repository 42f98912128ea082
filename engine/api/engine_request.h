#ifndef ATTEND_ENGINE_API_ENGINE_REQUEST_H_
#define ATTEND_ENGINE_API_ENGINE_REQUEST_H_

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "engine/api/generation_params.h"

namespace attend {

// The input of an encoder, without masked tokens.
struct SourceTokens {
  std::vector<int> ids = {};
  // Number of leading tokens that are attended to; 0: all. The others still get
  // vectors.
  int attended = 0;
  // The position of each token in the input. Positions ascend, with gaps at
  // masked tokens. Empty: 0, 1, 2, ...
  std::vector<int> positions = {};
  // The type of each token: 0 in the first of two texts, 1 in the second
  // (BERT's token types). Empty: 0 for all tokens.
  std::vector<int> types = {};
};

// The first tokens of a decoder-only model, at least one.
struct Prompt {
  std::vector<int> ids = {};
};

// Generate new tokens after the prompt or, if the request has a source, after
// the decoder start.
struct GenerateTask {
  GenerationParams params;
};

// Compute the log-probabilities of given target tokens, which follow the prompt
// or, if the request has a source, the decoder start. The result is one choice:
// `target`, its log_probs, and alternatives at each token.
struct ScoreTask {
  std::vector<int> target;
  int top_log_probs = 0;    // alternatives a token
  bool alignments = false;  // return the alignment; needs a source
  // The decoder's first input, where there is a source; nullopt: the model's.
  std::optional<int> decoder_start_id = std::nullopt;
};

// Return the encoder's output. Several kinds may be requested at once; their
// values are concatenated in the order of these fields.
struct EmbedTask {
  // False: not the pooled vector. Only with one of the kinds below.
  bool pooled = true;
  // Weights of tokens: of those of the source, or of the whole vocabulary, as
  // ModelInfo says.
  bool sparse = false;
  // A vector of each token, as the model's files make them.
  bool token_vectors = false;
  // True: the vector of each token, as the encoder leaves it, and nothing else.
  bool per_token = false;
  // The first tokens of the source that are of a prompt, special tokens before
  // it included. They are not pooled if the model leaves prompts out.
  int prompt_tokens = 0;
  // Number of leading elements of the pooled vector to keep; 0: all.
  int dimensions = 0;
  // True: scale the kept elements to length 1; nullopt: the model's default.
  std::optional<bool> normalize = std::nullopt;
  // The route through the model: an index of ModelInfo::routes.
  int route = 0;
};

// Compute the logits of the model's head: a score of each label for the source
// or, if the model labels tokens, for each token; the begin and the end of a
// span for each token; or one logit for the source. No softmax or sigmoid is
// applied.
struct ClassifyTask {};

// Find the most likely tokens at some positions of the source. The result has
// one choice per position, with `top` alternatives and no token.
struct FillMaskTask {
  std::vector<int> rows;  // the positions: indices of source.ids
  int top = 5;            // alternatives per position
};

// A source if the model has an encoder, otherwise a prompt.
using EngineInput = std::variant<SourceTokens, Prompt>;

struct EngineRequest {
  EngineInput input;
  std::variant<GenerateTask, ScoreTask, EmbedTask, ClassifyTask, FillMaskTask>
      task;
  // Requests find cached keys and values only of requests with the same salt,
  // so the cache reveals nothing about requests with another one.
  uint64_t cache_salt = 0;
  int adapter = -1;  // the number in ModelInfo::adapters; -1: none
};

// Returns the salt of a request's cached data, which includes the adapter
// because keys and values depend on it. Without an adapter it is `cache_salt`.
inline uint64_t SaltOf(const EngineRequest& request) {
  // The constants are those of SplitMix64 (Steele et al. 2014).
  uint64_t salt =
      request.cache_salt +
      static_cast<uint64_t>(request.adapter + 1) * 0x9e3779b97f4a7c15;
  if (request.adapter < 0) return salt;
  salt = (salt ^ (salt >> 30)) * 0xbf58476d1ce4e5b9;
  salt = (salt ^ (salt >> 27)) * 0x94d049bb133111eb;
  return salt ^ (salt >> 31);
}

}  // namespace attend

#endif  // ATTEND_ENGINE_API_ENGINE_REQUEST_H_
