#include "engine/ops/logits_view.h"

#include "engine/ops/logits_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

const LogitsKernels& Kernels() {
  static const LogitsKernels kernels = LogitsKernels::For(DetectIsa());
  return kernels;
}

}  // namespace

float LogitsView::LogSumExp() const { return Kernels().log_sum_exp(row_); }

void LogitsView::Top(absl::Span<TokenScore> out) const {
  ATTEND_CHECK(out.size() <= row_.size());
  Kernels().top(row_, out);
}

}  // namespace attend
