#ifndef ATTEND_ENGINE_RUNTIME_DECODE_PASS_H_
#define ATTEND_ENGINE_RUNTIME_DECODE_PASS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/runtime/decoder_rows.h"
#include "engine/runtime/step_batch.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/runtime/worker_memory.h"

namespace attend {

// The prompts and decode rows of a step in one batch, and who takes its logits.
// One worker's; lists are reserved at construction, so that a step allocates
// nothing.
class DecodePass {
 public:
  // `memory` must outlive this. A step computes at most `max_rows`.
  DecodePass(WorkerMemory& memory, int max_rows);

  void Clear();
  // Adds so many rows of it to the batch of the next Run().
  void Add(const TransformerSequence& sequence, int rows);
  absl::Status Run();

 private:
  // Logits that a request wants: `rows` entries of wanted_rows_ from `first`.
  // A prompt to score may be cut into several, all but the last of
  // kMaxLogitsRows, so that one group never holds two of a request.
  struct Wanted {
    DecoderRows* decoder;
    int first;
    int rows;
  };

  // The last `count` rows of the batch.
  void Want(DecoderRows& decoder, int count);
  absl::Status TakeLogits();
  // Of as many as are computed at once, which have so many rows.
  absl::Status TakeGroup(absl::Span<const Wanted> group, int rows);

  WorkerMemory& memory_;
  const int max_rows_;
  StepBatch batch_;
  std::vector<DecoderRows*> decoders_;
  std::vector<Wanted> wanted_;
  std::vector<int> wanted_rows_;   // of the batch
  std::vector<LogitsNeed> needs_;  // [rows of a group]
  std::vector<LogitsView> views_;  // [rows of a group]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DECODE_PASS_H_
