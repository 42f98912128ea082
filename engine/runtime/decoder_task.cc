#include "engine/runtime/decoder_task.h"

#include <cstddef>

namespace attend {

void Scoring::Take(absl::Span<const LogitsView> logits) {
  scorer_.Advance(logits);
  if (scorer_.remaining() == 0) scorer_.SetAlignment(std::move(alignment_));
}

float* Scoring::weights_of(int token) {
  if (aligned_with_ == 0) return nullptr;
  return alignment_.data() + ptrdiff_t{token} * aligned_with_;
}

}  // namespace attend
