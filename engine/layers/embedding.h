#ifndef ATTEND_ENGINE_LAYERS_EMBEDDING_H_
#define ATTEND_ENGINE_LAYERS_EMBEDDING_H_

#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// A token's vector times a scale, plus the sinusoid of its position (Vaswani
// et al. 2017, section 3.5, with all sines first and all cosines after them, as
// Marian stores them). Const after construction.
class Embedding {
 public:
  // `tokens` is [vocab, hidden].
  Embedding(Buffer<float> tokens, int hidden, float scale, int max_positions);

  // ids in [0, vocab), positions in [0, max_positions); dst [ids, hidden].
  void Run(Compute& compute, absl::Span<const int> ids,
           absl::Span<const int> positions, Matrix dst) const;

 private:
  Buffer<float> tokens_;     // [vocab, hidden]
  Buffer<float> positions_;  // [max_positions, hidden]
  int hidden_;
  float scale_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_EMBEDDING_H_
