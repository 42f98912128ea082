#ifndef ATTEND_ENGINE_RUNTIME_ENCODE_PASS_H_
#define ATTEND_ENGINE_RUNTIME_ENCODE_PASS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/runtime/encoder_task.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/runtime/worker_memory.h"
#include "engine/transformer/encode_buffer.h"
#include "engine/transformer/encode_share.h"
#include "engine/transformer/head.h"

namespace attend {

// The encodes of a step, and the heads of those that end in it. One worker's;
// lists are reserved at construction, so that a step allocates nothing.
class EncodePass {
 public:
  // `memory` must outlive this. Sources have at most `max_source_tokens`.
  EncodePass(WorkerMemory& memory, int max_source_tokens, int max_rows);

  const EncodeBuffer& buffer() const { return buffer_; }

  void Clear() { sources_.clear(); }
  // Encodes so many rows of its source in the next Run().
  void Add(const TransformerSequence& sequence, int rows) {
    sources_.push_back({&sequence, rows});
  }
  absl::Status Run();

 private:
  struct SourceRows {
    const TransformerSequence* sequence;
    int rows;
  };
  // A vector that a task reads of its source.
  struct TaskVector {
    EncoderTask* task;
    const EncodeState* state;
    int index;
  };

  // Drops what others have encoded already.
  void PlanEncodes();
  // The tasks whose vectors go through `layers`.
  absl::Status RunHeads(EncoderTask::Layers layers);
  // The vectors collected, all at once.
  absl::Status RunHead(EncoderTask::Layers layers);
  void ReadVectors(Matrix dst) const;
  absl::Status RunLogits(Matrix src);

  WorkerMemory& memory_;
  const size_t max_vectors_;
  EncodeBuffer buffer_;
  HeadBuffer head_buffer_;
  std::vector<SourceRows> sources_;
  std::vector<EncodePiece> encodes_;
  std::vector<TaskVector> vectors_;
  std::vector<LogitsNeed> needs_;  // [vectors]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_ENCODE_PASS_H_
