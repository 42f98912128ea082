#ifndef ATTEND_ENGINE_RUNTIME_ENCODE_PASS_H_
#define ATTEND_ENGINE_RUNTIME_ENCODE_PASS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/runtime/encoder_task.h"
#include "engine/runtime/head_of.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/runtime/worker_memory.h"
#include "engine/transformer/encode_buffer.h"
#include "engine/transformer/encode_share.h"
#include "engine/transformer/head.h"

namespace attend {

// The encoder's work of a step: pieces of encodes, then the heads of the
// encodes that end in this step. Belongs to one worker. All lists are reserved
// at construction: a step allocates nothing.
class EncodePass {
 public:
  // `memory` must outlive the pass. A source has at most `max_source_tokens`
  // tokens, a step at most `max_rows` rows.
  EncodePass(WorkerMemory& memory, int max_source_tokens, int max_rows);

  const EncodeBuffer& buffer() const { return buffer_; }

  void Clear() { sources_.clear(); }
  // The next Run() encodes `rows` rows of the sequence's source, as the plan's
  // piece of that number.
  void Add(const TransformerSequence& sequence, int rows, int piece) {
    sources_.push_back({&sequence, rows, piece});
  }
  absl::Status Run();

 private:
  struct SourceRows {
    const TransformerSequence* sequence;
    int rows;
    int piece;
  };
  // The vector number `index` of a part of a task.
  struct TaskVector {
    EncoderTask* task;
    const EncoderTask::Part* part;
    const EncodeState* state;
    int index;
  };

  // Fills encodes_. Removes sources whose keys and values are in the pool
  // already.
  void PlanEncodes();
  // Computes the layers for all vectors of the tasks that have these layers.
  absl::Status RunHeads(const HeadChoice& choice);
  // Computes the layers for vectors_, as one batch.
  absl::Status RunHead(const HeadChoice& choice);
  void ReadVectors(Matrix dst) const;
  absl::Status RunLogits(Matrix src);
  // Pools the last logits of the vectors that want all of them.
  void FoldLogits();

  WorkerMemory& memory_;
  const size_t max_vectors_;
  EncodeBuffer buffer_;
  HeadBuffer head_buffer_;
  const std::vector<HeadChoice> choices_;
  std::vector<SourceRows> sources_;
  std::vector<EncodePiece> encodes_;
  std::vector<TaskVector> vectors_;
  std::vector<LogitsNeed> needs_;  // [vectors]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ENCODE_PASS_H_
