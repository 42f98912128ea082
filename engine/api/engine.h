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

// What an encoder reads: ids of tokens that count, with the position each has
// in the input it comes from (masked tokens are left out here, so positions may
// have holes). Empty `positions` means 0, 1, 2, ...
struct SourceTokens {
  std::vector<int> ids = {};
  std::vector<int> positions = {};
  // Which of two texts each is of, where the model tells them apart (BERT's
  // token types); empty: 0.
  std::vector<int> types = {};
};

// What a decoder without an encoder continues: its first tokens, at least one.
struct Prompt {
  std::vector<int> ids = {};
};

// Continue the prompt, or the decoder start if there is a source, by new
// tokens.
struct GenerateTask {
  GenerationParams params;
};

// Log-probabilities of given target tokens. The result is one choice that
// holds `target`, its log_probs and top alternatives. It follows the prompt, or
// the decoder start if there is a source.
struct ScoreTask {
  std::vector<int> target;
  int top_log_probs = 0;
};

// The encoder's output: one vector of the source, pooled as the model says, or
// the vector of each token as the encoder left it.
struct EmbedTask {
  bool per_token = false;
  // These two are of the pooled vector: only its first numbers (0: all of
  // them), and whether what is left is scaled to length 1 (nothing: as the
  // model says).
  int dimensions = 0;
  std::optional<bool> normalize = std::nullopt;
};

// Scores of the model's labels as its head gives them, before softmax or
// sigmoid: of the source, or of each token if the model labels tokens.
struct ClassifyTask {};

// The most likely tokens at some places of the source. The result is a choice
// for each of them, which holds `top` alternatives and no token.
struct FillMaskTask {
  std::vector<int> rows;  // indices of source.ids
  int top = 5;
};

// A source where the model has an encoder, else a prompt.
using EngineInput = std::variant<SourceTokens, Prompt>;

struct EngineRequest {
  EngineInput input;
  std::variant<GenerateTask, ScoreTask, EmbedTask, ClassifyTask, FillMaskTask>
      task;
};

// What a sequence has to compute next.
enum class Phase {
  kEncode,  // the source; `rows` is what is left of it, in rows of all layers
  kPrompt,  // known decoder tokens: prompt, forced prefix, target, replay
  kDecode,  // one row for each live hypothesis, all in one piece
  kDone,
};

struct Work {
  Phase phase = Phase::kDone;
  // Rows until this phase ends. Encode and prompt may be cut into pieces of
  // any size; decode may not. Of an encode that has not begun, and of a prompt,
  // at most: the first piece finds out what needs not be computed.
  int rows = 0;
  // Blocks of the KV pool that this phase takes at most before it ends.
  int blocks = 0;
  // Rows of the encode buffer that this phase takes before it ends, if its
  // first piece has not run yet; else 0.
  int encode_rows = 0;
  // Whether the request takes blocks, in this phase or a later one.
  bool uses_blocks = true;
};

// The state of one request inside the engine. Made on any thread; from its
// first step to its end used, and destroyed, only by the worker whose context
// it ran in. Destruction gives its memory back to that context, which must
// outlive it.
class Sequence {
 public:
  virtual ~Sequence() = default;
  virtual Work Next() const = 0;
  // Grows with each step; see ChoiceOutput for what it holds while running.
  virtual const SequenceOutput& output() const = 0;
  // Blocks that the worst case of this request needs at once.
  virtual int max_blocks() const = 0;
  // Blocks that would be free without it: those held, but for what other
  // sequences hold too.
  virtual int blocks() const = 0;
};

// A part of a step: `rows` rows of a sequence's next work.
struct Piece {
  Sequence* sequence = nullptr;
  int rows = 0;
};

struct StepPlan {
  // These first give all their memory back; what they had computed is replayed
  // by later pieces (their Next() says how much).
  std::vector<Sequence*> preempted;
  std::vector<Piece> pieces;  // a sequence occurs at most once
};

// What the steps on a context have come to since it was made.
struct StepCounts {
  // Rows of pieces for which there was nothing left to compute.
  int64_t spared_rows = 0;
  // Tokens of prompts and of sources to encode that were looked for in the
  // prefix cache, again when they were replayed, and those of them that were
  // there.
  int64_t queried_tokens = 0;
  int64_t hit_tokens = 0;
};

// One worker's part of an engine: its memory, sized at load (KV pool, encode
// buffer, activations), and the steps that compute in it. Used by that worker's
// thread only.
class EngineContext {
 public:
  virtual ~EngineContext() = default;

  // Computes all pieces, of sequences of the same engine, in one pass over
  // ragged rows. The plan must respect max_step_rows, free blocks and encode
  // rows; breaking that is a bug of the caller. Only an error of the
  // computation itself is returned, and then no piece can be used further.
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
  std::string dtype;   // of the computation
  int source_vocab = 0;
  // Of the decoder or the masked-LM head; 0: there is neither.
  int target_vocab = 0;
  // What it can be asked for.
  bool generates = false;  // GenerateTask, ScoreTask
  // It takes a prompt, not a source: what a client sends as source is the
  // beginning of what is generated or scored, and counts against
  // max_target_tokens in the decoder start's place.
  bool continues_source = false;
  bool embeds = false;  // EmbedTask
  bool classifies = false;
  bool labels_tokens = false;  // ClassifyTask is about each token
  bool fills_masks = false;
  int embedding_width = 0;               // of the source's vector
  int token_width = 0;                   // of a token's
  std::vector<std::string> labels = {};  // in the order of the scores
  LabelScores label_scores = LabelScores::kSoftmax;
  // Texts that users of its embeddings put before theirs, by name, and the name
  // of the one that is put there if nobody says which; empty: none.
  std::map<std::string, std::string> prompts = {};
  std::string default_prompt = {};
  int token_types = 0;  // of SourceTokens::types; 0: the model has none
  // Limit of a source or prompt, special tokens included.
  int max_source_tokens = 0;
  // Where a text is cut that is to be embedded: what the model was made for, at
  // most max_source_tokens.
  int max_text_tokens = 0;
  // Limit of decoder rows: prompt or start + prefix + new.
  int max_target_tokens = 0;
  int max_beams = 0;
  // Rows that one step may compute at most.
  int max_step_rows = 0;
  // Defaults of generation, from the model's own files.
  GenerationParams generation;
};

// The tokens as the model takes them: of a prompt only the ids.
inline EngineInput InputOf(const ModelInfo& model, SourceTokens tokens) {
  if (model.continues_source) return Prompt{std::move(tokens.ids)};
  return tokens;
}

// A loaded model; everything below the scheduler. Const after load and shared
// by threads; all mutable state is in contexts and sequences, which it must
// outlive.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual const ModelInfo& info() const = 0;

  // For one worker.
  virtual std::unique_ptr<EngineContext> NewContext() const = 0;

  // Checks the request against the model and its limits, and makes its state.
  // Computes nothing. INVALID_ARGUMENT names the field, its value and limit.
  virtual absl::StatusOr<std::unique_ptr<Sequence>> NewSequence(
      EngineRequest request) const = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_ENGINE_H_
