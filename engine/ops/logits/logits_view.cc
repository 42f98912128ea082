#include "engine/ops/logits/logits_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/logits/logits_kernel.h"
#include "engine/tensor/check.h"
#include "engine/tensor/finite.h"

namespace attend {
namespace {

const LogitsKernels& Kernels() {
  static const LogitsKernels kernels = LogitsKernels::For(DetectIsa());
  return kernels;
}

}  // namespace

bool NeedsRow(const LogitsNeed& need, absl::Span<const TokenScore> top) {
  if (need.row) return true;
  // Of fewer than were asked for, all are there.
  if (need.tie_margin == 0 || static_cast<int>(top.size()) < need.top) {
    return false;
  }
  // Samplers scale scores before they compare them; NaN may be anything.
  constexpr float kRoundings = 8 * std::numeric_limits<float>::epsilon();
  const float before = top[top.size() - 1 - need.tie_margin].score;
  return !(top.back().score < before - kRoundings * std::abs(before));
}

// What is not a number is the lowest score: if the best is not, all are not.
bool LogitsView::finite() const {
  if (known_.log_sum_exp) return std::isfinite(*known_.log_sum_exp);
  if (!known_.top.empty()) return std::isfinite(known_.top.front().score);
  return AllFinite(known_.row);
}

float LogitsView::LogSumExp() const {
  if (known_.log_sum_exp) return *known_.log_sum_exp;
  return attend::LogSumExp(Kernels(), Row());
}

void LogitsView::Top(absl::Span<TokenScore> out) const {
  ATTEND_CHECK(out.size() <= static_cast<size_t>(known_.vocab));
  if (known_.allowed == nullptr && out.size() <= known_.top.size()) {
    std::copy_n(known_.top.begin(), out.size(), out.begin());
  } else {
    attend::Top(Kernels(), Row(), out);
  }
}

size_t LogitsView::TopAllowed(const uint32_t* allowed,
                              absl::Span<TokenScore> out) const {
  if (!known_.row.empty()) {
    return attend::TopAllowed(Kernels(), known_.row, allowed, out);
  }
  ATTEND_CHECK(known_.allowed == allowed);
  const size_t count = std::min(out.size(), known_.top.size());
  std::copy_n(known_.top.begin(), count, out.begin());
  return count;
}

float LogitsView::At(int id) const {
  if (!known_.row.empty()) return known_.row[id];
  const auto token =
      std::find_if(known_.top.begin(), known_.top.end(),
                   [id](const TokenScore& best) { return best.id == id; });
  ATTEND_CHECK(token != known_.top.end());
  return token->score;
}

absl::Span<const float> LogitsView::Row() const {
  ATTEND_CHECK(!known_.row.empty());
  return known_.row;
}

}  // namespace attend
