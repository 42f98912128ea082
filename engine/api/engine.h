#ifndef ATTEND_ENGINE_API_ENGINE_H_
#define ATTEND_ENGINE_API_ENGINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/api/engine_request.h"
#include "engine/api/model_info.h"
#include "engine/api/output.h"

namespace attend {

// The next computation of a sequence.
enum class Phase {
  kEncode,  // the source; a row counts once it has passed all layers
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
  // True if the request takes blocks of the KV pool, in this phase or later.
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
  // INTERNAL once a step has given this sequence infinite or NaN values,
  // INVALID_ARGUMENT once its constraint cannot be satisfied. The sequence is
  // then finished: its output is unchanged, and no later step may include it.
  // Other sequences of that step are unaffected.
  virtual absl::Status status() const { return absl::OkStatus(); }
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
  // Sequences that release all their memory before the step computes. Later
  // pieces replay their work; Next() returns its size.
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
  // Tokens that were drafted (speculative decoding), beyond the planned rows,
  // and how many of them were accepted: each spares a step its sequence.
  int64_t draft_tokens = 0;
  int64_t accepted_draft_tokens = 0;
  // The same counts for a draft model alone.
  int64_t model_draft_tokens = 0;
  int64_t accepted_model_draft_tokens = 0;
};

// The memory of one worker (KV pool, encode buffer, activations), which has its
// final size from the start, and the steps that compute in this memory. Only
// the worker's thread may use a context.
class EngineContext {
 public:
  virtual ~EngineContext() = default;

  // Computes all pieces of the plan, whose sequences belong to this engine. The
  // plan must respect max_step_rows, free_blocks() and free_encode_rows();
  // otherwise it is a bug of the caller. An error comes from the
  // computation itself; then no sequence of the plan can be used further.
  virtual absl::Status Step(const StepPlan& plan) = 0;

  virtual int total_blocks() const = 0;
  virtual int free_blocks() const = 0;
  virtual int total_encode_rows() const = 0;
  virtual int free_encode_rows() const = 0;
  virtual StepCounts counts() const = 0;
  // Number of rows that were not computed, for each piece of the last step in
  // the plan's order. Their sum is the step's increment of
  // counts().spared_rows.
  virtual absl::Span<const int> spared() const = 0;
};

// A loaded model: everything below the scheduler. Const after load; any thread
// may use an engine. Mutable state is in contexts and sequences; the engine
// must outlive both.
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
