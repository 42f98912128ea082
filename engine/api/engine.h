#ifndef ATTEND_ENGINE_API_ENGINE_H_
#define ATTEND_ENGINE_API_ENGINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/api/generation_params.h"
#include "engine/api/label_scores.h"
#include "engine/api/output.h"

namespace attend {

// What an encoder reads. Masked tokens of the input are left out.
struct SourceTokens {
  std::vector<int> ids = {};
  // The position of each token in the input. Positions ascend; where masked
  // tokens were left out, they have holes. Empty: 0, 1, 2, ...
  std::vector<int> positions = {};
  // The type of each token: 0 in the first of two texts, 1 in the second
  // (BERT's token types). Empty: 0 for all tokens.
  std::vector<int> types = {};
};

// The first tokens of a decoder without an encoder, at least one.
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
  int top_log_probs = 0;  // alternatives a token
};

// Return the encoder's output.
struct EmbedTask {
  // True: the vector of each token, as the encoder leaves it. False: one vector
  // of the source, pooled as the model says.
  bool per_token = false;
  // How many of the pooled vector's first numbers are kept; 0: all numbers.
  int dimensions = 0;
  // Whether the kept numbers are scaled to length 1; nullopt: as the model
  // says.
  std::optional<bool> normalize = std::nullopt;
};

// Score the model's labels, for the source or, if the model labels tokens, for
// each token. The scores are those of the head, before softmax or sigmoid.
struct ClassifyTask {};

// Find the most likely tokens at some places of the source. The result has one
// choice a place, which holds `top` alternatives and no token.
struct FillMaskTask {
  std::vector<int> rows;  // the places: indices of source.ids
  int top = 5;            // alternatives a place
};

// A source if the model has an encoder, else a prompt.
using EngineInput = std::variant<SourceTokens, Prompt>;

struct EngineRequest {
  EngineInput input;
  std::variant<GenerateTask, ScoreTask, EmbedTask, ClassifyTask, FillMaskTask>
      task;
};

// What a sequence has to compute next.
enum class Phase {
  kEncode,  // the source; a row counts when it is through all layers
  kPrompt,  // known decoder tokens: prompt, forced prefix, target, replay
  kDecode,  // one row for each live hypothesis, all rows in one piece
  kDone,
};

struct Work {
  Phase phase = Phase::kDone;
  // Rows until this phase ends. An encode or a prompt may be cut into pieces of
  // any size; a decode may not. For an encode that has not begun, and for a
  // prompt, `rows` is an upper bound: rows that are in the prefix cache are
  // found only when a piece is computed.
  int rows = 0;
  // An upper bound of the blocks of the KV pool that this phase will still
  // take.
  int blocks = 0;
  // Rows of the encode buffer that the first piece of an encode takes; 0 in
  // other phases, and when that piece has been computed.
  int encode_rows = 0;
  // Whether the request takes blocks of the KV pool, in this phase or later.
  bool uses_blocks = true;
};

// The state of one request inside the engine. Any thread may make a sequence.
// From its first step on, only the worker of that step's context may use and
// destroy the sequence. The destructor gives memory back to the context, so the
// context must outlive the sequence.
class Sequence {
 public:
  virtual ~Sequence() = default;
  virtual Work Next() const = 0;
  // Grows with each step; see ChoiceOutput for what a running sequence has.
  virtual const SequenceOutput& output() const = 0;
  // The blocks that this request holds at once in the worst case.
  virtual int max_blocks() const = 0;
  // The blocks that only this sequence holds: preemption would free them.
  virtual int blocks() const = 0;
};

// Some rows of a sequence's next work, in one step.
struct Piece {
  Sequence* sequence = nullptr;
  int rows = 0;
};

struct StepPlan {
  // These sequences give all their memory back before the step computes. What
  // they had computed is replayed by later pieces; Next() says how much.
  std::vector<Sequence*> preempted;
  std::vector<Piece> pieces;  // a sequence occurs at most once
};

// Totals over all steps of a context.
struct StepCounts {
  // Planned rows that were not computed, because their keys and values were
  // found in the pool.
  int64_t spared_rows = 0;
  // Tokens of prompts and sources that were looked up in the prefix cache, and
  // how many of them were found. A replay looks its tokens up again.
  int64_t queried_tokens = 0;
  int64_t hit_tokens = 0;
};

// The memory of one worker (KV pool, encode buffer, activations), which has its
// final size from the start, and the steps that compute in this memory. Only
// the worker's thread may use a context.
class EngineContext {
 public:
  virtual ~EngineContext() = default;

  // Computes all pieces of the plan, whose sequences are of this engine. The
  // plan must keep within max_step_rows, free_blocks() and free_encode_rows();
  // a plan that does not is a bug of the caller. An error comes from the
  // computation itself; then no sequence of the plan can be used further.
  virtual absl::Status Step(const StepPlan& plan) = 0;

  virtual int total_blocks() const = 0;
  virtual int free_blocks() const = 0;
  virtual int total_encode_rows() const = 0;
  virtual int free_encode_rows() const = 0;
  virtual StepCounts counts() const = 0;
};

struct ModelInfo {
  std::string name;
  std::string family;  // config.json's model_type
  std::string dtype;   // of the matrix products: "f32", "bf16" or "int8"
  int source_vocab = 0;
  // Vocabulary of the decoder or of the masked-LM head; 0: there is neither.
  int target_vocab = 0;
  // The tasks that the model can do.
  bool generates = false;  // GenerateTask, ScoreTask
  // The model has no encoder: what a client sends as source is a prompt, the
  // beginning of what is generated or scored. The prompt counts against
  // max_target_tokens; there is no decoder start.
  bool continues_source = false;
  bool embeds = false;                   // EmbedTask
  bool classifies = false;               // ClassifyTask
  bool labels_tokens = false;            // ClassifyTask scores each token
  bool fills_masks = false;              // FillMaskTask
  int embedding_width = 0;               // numbers of a source's vector
  int token_width = 0;                   // numbers of a token's vector
  std::vector<std::string> labels = {};  // in the order of the scores
  LabelScores label_scores = LabelScores::kSoftmax;
  // Texts to put before a text that is embedded, by name.
  std::map<std::string, std::string> prompts = {};
  // The name of the prompt for requests that name none; empty: no prompt.
  std::string default_prompt = {};
  int token_types = 0;  // SourceTokens::types are below this; 0: no types
  // The longest source or prompt, special tokens included.
  int max_source_tokens = 0;
  // A longer text is truncated to this before it is embedded: the length that
  // the model was trained for, at most max_source_tokens.
  int max_text_tokens = 0;
  // The longest sequence of decoder tokens: the prompt or the decoder start,
  // the forced prefix, and new tokens.
  int max_target_tokens = 0;
  int max_beams = 0;  // beams or samples of one request
  // The most rows of one step.
  int max_step_rows = 0;
  // Defaults of generation, from the model's own files.
  GenerationParams generation;
};

// The input that the model takes: a source, or a prompt of the same ids.
inline EngineInput InputOf(const ModelInfo& model, SourceTokens tokens) {
  if (model.continues_source) return Prompt{std::move(tokens.ids)};
  return tokens;
}

// A loaded model: everything below the scheduler. Const after load; any thread
// may use an engine. What changes is in contexts and sequences; the engine must
// outlive both.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual const ModelInfo& info() const = 0;

  // The memory of one more worker.
  virtual std::unique_ptr<EngineContext> NewContext() const = 0;

  // Checks the request against the model and its limits, and makes the state of
  // the request. Computes nothing. INVALID_ARGUMENT names the field, its value
  // and the limit.
  virtual absl::StatusOr<std::unique_ptr<Sequence>> NewSequence(
      EngineRequest request) const = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_ENGINE_H_
