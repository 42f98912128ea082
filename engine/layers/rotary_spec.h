#ifndef ATTEND_ENGINE_LAYERS_ROTARY_SPEC_H_
#define ATTEND_ENGINE_LAYERS_ROTARY_SPEC_H_

#include <vector>

#include "absl/types/span.h"

namespace attend {

// 1 / theta^(2i / dims) (Su et al. 2021, section 3.2.2), each step rounded to
// float as where checkpoints were trained. `dims` is even.
std::vector<float> RotaryFrequencies(float theta, int dims);
// The same into frequencies [dims / 2].
void FillRotaryFrequencies(float theta, absl::Span<float> frequencies);

// Queries and keys are rotated by angles of their position (Su et al. 2021):
// numbers i and i + frequencies.size() of a head by position * frequencies[i].
// Those behind them stay.
struct RotarySpec {
  std::vector<float> frequencies;
  // Of what was turned (Peng et al. 2023, section 3.4).
  float magnitude = 1;

  // Rows of sequences of more tokens than this have other frequencies; 0: they
  // are the same for all. What the length of a row's sequence is, see
  // LengthOf().
  int original_positions = 0;
  // Those (Ding et al. 2024, LongRoPE), [frequencies.size()], or:
  std::vector<float> long_frequencies = {};
  // those of theta * (factor * length / original_positions - factor + 1) ^
  // (dims / (dims - 2)) (the dynamic NTK of Peng et al. 2023, section 3.3).
  float theta = 0;
  float factor = 0;

  int dims() const { return 2 * static_cast<int>(frequencies.size()); }
  bool by_length() const { return original_positions > 0; }
  // Whether all of a sequence's tokens have the frequencies of its length as it
  // is now, so that earlier ones are computed again when it becomes long: with
  // long_frequencies. Else a token keeps those that it had when it came.
  bool of_whole() const { return !long_frequencies.empty(); }
  // The length that the row at `position` has frequencies of, in a sequence
  // that came with `given` tokens and now has `tokens`.
  int LengthOf(int position, int given, int tokens) const {
    if (of_whole()) return tokens;
    return position < given ? given : position + 1;
  }
  // A number that two such sequences have in common only if all their rows at
  // one position have the same frequencies.
  int KindOf(int given, int tokens) const {
    if (of_whole()) return tokens > original_positions ? 1 : 0;
    return given > original_positions ? given : 0;
  }
  // What takes theta's place in sequences of so many tokens, which are at least
  // original_positions. dims() is above 2.
  float StretchedTheta(int length) const;

  bool operator==(const RotarySpec&) const = default;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_ROTARY_SPEC_H_
