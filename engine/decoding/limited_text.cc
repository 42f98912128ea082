#include "engine/decoding/limited_text.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace attend {
namespace {

// One token may make the ending longer: '{"' of an object.
constexpr size_t kMinReserve = 2;
constexpr size_t kMaxReserve = 32;
// Fewer tokens are looked at from the start.
constexpr size_t kShortText = 64;

}  // namespace

LimitedText::LimitedText(std::unique_ptr<ConstraintState> state, size_t most)
    : state_(std::move(state)),
      left_(most),
      reserve_(std::min(kMinReserve + most / 8, kMaxReserve)),
      look_at_(std::max(most / 2, kShortText)) {}

LimitedText::LimitedText(const LimitedText& other)
    : state_(other.state_->Copy()),
      left_(other.left_),
      reserve_(other.reserve_),
      look_at_(other.look_at_),
      ending_begun_(other.ending_begun_),
      ending_(other.ending_),
      next_(other.next_) {}

std::unique_ptr<LimitedText> LimitedText::Copy() const {
  return std::unique_ptr<LimitedText>(new LimitedText(*this));
}

absl::Status LimitedText::Append(int id) {
  if (left_ > 0) --left_;
  if (next_ < ending_.size() && ending_[next_] == id) ++next_;
  return state_->Append(id);
}

absl::StatusOr<bool> LimitedText::Mask(absl::Span<uint32_t> mask) {
  if (left_ > 0 && left_ <= look_at_ && !ending_begun_) LookForEnding();
  if (!ending_begun_) return state_->Mask(mask);
  std::fill(mask.begin(), mask.end(), 0);
  if (next_ == ending_.size()) return true;
  const int id = ending_[next_];
  mask[id / 32] |= uint32_t{1} << (id % 32);
  return false;
}

// The fewer tokens remain until it is time, the sooner it looks again: the
// ending may have become longer. So a text takes the time of a few endings.
void LimitedText::LookForEnding() {
  std::optional<std::vector<int>> found = state_->Ending(left_);
  if (!found.has_value()) {
    look_at_ = left_ / 2;
    return;
  }
  const size_t latest = found->size() + reserve_;
  if (left_ > latest) {
    look_at_ = latest + (left_ - latest) / 2;
    return;
  }
  ending_begun_ = true;
  ending_ = *std::move(found);
}

}  // namespace attend
