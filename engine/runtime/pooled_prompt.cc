#include "engine/runtime/pooled_prompt.h"

#include <algorithm>
#include <utility>

namespace attend {
namespace {

bool ReadsOnlyTheLast(const EncoderTask& result) {
  const auto& parts = result.parts();
  return std::all_of(
      parts.begin(), parts.end(), [](const EncoderTask::Part& part) {
        return !part.poolings.empty() &&
               std::all_of(part.poolings.begin(), part.poolings.end(),
                           [](Pooling p) { return p == Pooling::kLast; });
      });
}

}  // namespace

PooledPrompt::PooledPrompt(std::vector<int> tokens,
                           std::unique_ptr<EncoderTask> result, int hidden)
    : tokens_(std::move(tokens)),
      result_(std::move(result)),
      hidden_(hidden),
      pooled_(result_->parts().size()),
      unread_(ReadsOnlyTheLast(*result_) ? 1
                                         : static_cast<int>(tokens_.size())) {
  for (size_t part = 0; part < pooled_.size(); ++part) {
    const std::vector<Pooling>& poolings = result_->parts()[part].poolings;
    Pooled& pooled = pooled_[part];
    pooled.vector.resize(poolings.size() * static_cast<size_t>(hidden));
    pooled.poolers.reserve(poolings.size());
    for (size_t i = 0; i < poolings.size(); ++i) {
      pooled.poolers.emplace_back(poolings[i], hidden,
                                  pooled.vector.data() + i * hidden);
    }
  }
}

absl::Status PooledPrompt::status() const {
  if (result_->finite()) return absl::OkStatus();
  return absl::InternalError(
      "the model gives numbers that are not finite for this input");
}

int PooledPrompt::IndexOf(size_t part, int offset) const {
  return pooled_[part].poolers.empty() ? RowOf(offset) : 0;
}

bool PooledPrompt::Read(size_t part, int offset, const float* row, float* dst) {
  Pooled& pooled = pooled_[part];
  if (pooled.poolers.empty()) {
    std::copy_n(row, hidden_, dst);
    return true;
  }
  const int number = RowOf(offset);
  if (number >= result_->parts()[part].first_pooled) {
    for (Pooler& pooler : pooled.poolers) pooler.Add(row, number);
  }
  if (number + 1 < static_cast<int>(tokens_.size())) return false;
  for (Pooler& pooler : pooled.poolers) pooler.Finish();
  std::copy(pooled.vector.begin(), pooled.vector.end(), dst);
  return true;
}

}  // namespace attend
