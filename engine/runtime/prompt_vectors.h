#ifndef ATTEND_ENGINE_RUNTIME_PROMPT_VECTORS_H_
#define ATTEND_ENGINE_RUNTIME_PROMPT_VECTORS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "engine/runtime/decoder_rows.h"
#include "engine/runtime/encoder_task.h"
#include "engine/runtime/head_of.h"
#include "engine/runtime/pooled_prompt.h"
#include "engine/runtime/worker_memory.h"
#include "engine/transformer/head.h"

namespace attend {

// Hands the decoder's vectors of a step to the prompts that are pooled, and
// takes what they make of them through the model's layers. Belongs to one
// worker. All lists are reserved at construction.
class PromptVectors {
 public:
  // `memory` must outlive this. A step has at most `max_rows` rows.
  PromptVectors(WorkerMemory& memory, int max_rows);

  void Clear() { wanted_.clear(); }
  // The task of `decoder`, a PooledPrompt, takes the vectors of the rows
  // [first, first + rows) of the step.
  void Add(DecoderRows& decoder, int first, int rows) {
    if (rows > 0) wanted_.push_back({&decoder, first, rows});
  }
  // To be called when the step's rows are computed.
  absl::Status Run();

 private:
  struct WantedRows {
    DecoderRows* decoder;
    int first;
    int rows;
  };
  struct Vector {
    PooledPrompt* prompt;
    const EncoderTask::Part* part;
    int index;
  };
  // Reads the rows of all prompts for the parts with these layers.
  absl::Status Read(const HeadChoice& choice);
  absl::Status ReadPart(const WantedRows& wanted, size_t part,
                        const HeadChoice& choice);
  // Takes the vectors at hand through the layers.
  absl::Status RunLayers(const HeadChoice& choice);

  WorkerMemory& memory_;
  HeadBuffer buffer_;
  const std::vector<HeadChoice> choices_;
  std::vector<WantedRows> wanted_;
  std::vector<Vector> vectors_;  // in buffer_
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_PROMPT_VECTORS_H_
