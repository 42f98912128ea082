#ifndef ATTEND_ENGINE_OPS_LOGITS_KERNEL_H_
#define ATTEND_ENGINE_OPS_LOGITS_KERNEL_H_

#include "absl/types/span.h"
#include "engine/compute/isa.h"
#include "engine/ops/logits_view.h"

namespace attend {

// LogitsView's passes over a row, for one instruction set.
struct LogitsKernels {
  float (*log_sum_exp)(absl::Span<const float> row) = nullptr;
  void (*top)(absl::Span<const float> row,
              absl::Span<TokenScore> out) = nullptr;

  static LogitsKernels For(Isa isa);
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_KERNEL_H_
