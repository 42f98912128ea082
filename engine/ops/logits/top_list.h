#ifndef ATTEND_ENGINE_OPS_LOGITS_TOP_LIST_H_
#define ATTEND_ENGINE_OPS_LOGITS_TOP_LIST_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// A token as one number: the higher it is, the better the token, in the order
// of TokenScore. So two tokens are compared without a branch.
//
// The upper half is the score: a float's bits rise with a positive number, and
// fall with a negative one. NaN is 0, below -inf; -0 is 0. The lower half is
// the id, inverted.
inline uint64_t RankOf(const TokenScore& token) {
  constexpr uint32_t kSign = 0x80000000;
  const uint32_t bits = std::bit_cast<uint32_t>(token.score + 0.0f);
  const uint32_t rising = bits & kSign ? ~bits : bits | kSign;
  const uint64_t upper = std::isnan(token.score) ? 0 : rising;
  return upper << 32 | ~static_cast<uint32_t>(token.id);
}

inline TokenScore TokenOf(uint64_t rank) {
  constexpr uint32_t kSign = 0x80000000;
  const auto rising = static_cast<uint32_t>(rank >> 32);
  const uint32_t bits = rising & kSign ? rising ^ kSign : ~rising;
  return {.id = static_cast<int>(~static_cast<uint32_t>(rank)),
          .score = rising == 0 ? std::numeric_limits<float>::quiet_NaN()
                               : std::bit_cast<float>(bits)};
}

// Whether `a` comes before `b`, see TokenScore. An object rather than a
// function, so that algorithms inline it.
inline constexpr auto kRanksBefore = [](const TokenScore& a,
                                        const TokenScore& b) {
  return RankOf(a) > RankOf(b);
};

// The best `capacity` tokens of all tokens that were offered, by their ranks,
// best first. Does not own its memory.
class TopList {
 public:
  // Of few tokens, that an offered one is compared with each costs least.
  static constexpr int kMaxTokens = 128;

  TopList() = default;
  // `ranks` has room for `capacity` <= kMaxTokens.
  TopList(uint64_t* ranks, int capacity) : ranks_(ranks), capacity_(capacity) {}

  absl::Span<const uint64_t> ranks() const {
    return {ranks_, static_cast<size_t>(size_)};
  }
  int capacity() const { return capacity_; }
  bool full() const { return size_ == capacity_; }
  // The score of the worst token. The list must be full and not empty.
  float worst() const { return TokenOf(ranks_[size_ - 1]).score; }

  void Offer(uint64_t rank) {
    if (!full()) {
      ++size_;
    } else if (size_ == 0 || rank <= ranks_[size_ - 1]) {
      return;
    }
    int place = size_ - 1;
    for (; place > 0 && ranks_[place - 1] < rank; --place) {
      ranks_[place] = ranks_[place - 1];
    }
    ranks_[place] = rank;
  }
  // Writes the tokens to `out`, best first; returns how many there are.
  size_t Copy(TokenScore* out) const {
    for (int i = 0; i < size_; ++i) out[i] = TokenOf(ranks_[i]);
    return size_;
  }

 private:
  uint64_t* ranks_ = nullptr;
  int capacity_ = 0;
  int size_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_TOP_LIST_H_
