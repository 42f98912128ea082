#ifndef ATTEND_ENGINE_RUNTIME_DECODE_PASS_H_
#define ATTEND_ENGINE_RUNTIME_DECODE_PASS_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/runtime/decoder_rows.h"
#include "engine/runtime/prompt_vectors.h"
#include "engine/runtime/step_batch.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/runtime/worker_memory.h"

namespace attend {

class Drafter;

// The decoder's work of a step: the prompts and decode rows of all sequences as
// one batch, then the logits for each sequence's task. Belongs to one worker.
// All lists are reserved at construction: a step allocates nothing.
class DecodePass {
 public:
  // `memory` and `drafter` must outlive the pass; without a drafter nothing is
  // drafted by a model. A step has at most `max_rows` rows.
  DecodePass(WorkerMemory& memory, int max_rows, Drafter* drafter);

  // Begins a step, which has `room` for drafted tokens.
  void Clear(DraftRoom room);
  // The next Run() computes the next `rows` rows of the sequence, as the plan's
  // piece of that number.
  void Add(const TransformerSequence& sequence, int rows, int piece) {
    sequences_.push_back({&sequence, rows, piece});
  }
  // Drafts tokens, and computes all rows as one batch. Errors: those of
  // Transformer::Decode() and Logits().
  absl::Status Run();

 private:
  struct SequenceRows {
    const TransformerSequence* sequence;
    int rows;
    int piece;
  };
  // Rows whose logits one task takes: wanted_rows_[first, first + rows). If a
  // task scores more than kMaxLogitsRows rows of a prompt, the rows are several
  // entries. All of these but the last have kMaxLogitsRows rows, so that no
  // group has two entries of one task.
  struct WantedLogits {
    DecoderRows* decoder;
    int first;
    int rows;
  };

  // Makes the drafts of all sequences.
  absl::Status Draft();
  // Adds the sequence's rows to the batch.
  void PlanRows(const SequenceRows& rows);
  // Computes the batch, and hands the logits to the tasks.
  absl::Status RunBatch();
  // Asks for the attention weights that the task wants of the rows from
  // `first_row` on.
  void Weigh(const SourceEncode& source, int first_row, DecoderTask& task);
  // Asks for the logits, or the vectors, of the last `count` rows of the batch.
  void Want(DecoderRows& decoder, int count);
  // Hands the results of all entries to the tasks, in groups of at most
  // kMaxLogitsRows rows: logits, or what the head makes of the vectors, where
  // the head reads the decoder.
  absl::Status TakeResults();
  // Runs the head on the vectors of entries that have `rows` rows together.
  absl::Status TakeVectors(absl::Span<const WantedLogits> group, int rows);
  // Computes the logits of entries that have `rows` rows together.
  absl::Status TakeLogits(absl::Span<const WantedLogits> group, int rows);

  WorkerMemory& memory_;
  const int max_rows_;
  Drafter* const drafter_;  // may be null
  DraftRoom room_;
  std::vector<SequenceRows> sequences_;
  StepBatch batch_;
  PromptVectors vectors_;
  std::vector<WantedLogits> wanted_;
  std::vector<int> wanted_rows_;           // indices of rows of the batch
  std::vector<LogitsNeed> needs_;          // [rows of a group]
  std::vector<LogitsView> views_;          // [rows of a group]
  std::optional<HeadBuffer> head_buffer_;  // if the head reads the decoder
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DECODE_PASS_H_
