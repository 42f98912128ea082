#ifndef ATTEND_ENGINE_LAYERS_ROTARY_SPEC_H_
#define ATTEND_ENGINE_LAYERS_ROTARY_SPEC_H_

#include <vector>

#include "absl/types/span.h"

namespace attend {

// The frequencies 1 / theta^(2i / dims) (Su et al. 2021, section 3.2.2), [dims
// / 2]. Each step is rounded to float, as in training. `dims` is even.
std::vector<float> RotaryFrequencies(float theta, int dims);
// The same, written to `frequencies`; dims = 2 * frequencies.size().
void FillRotaryFrequencies(float theta, absl::Span<float> frequencies);

// Rotary positions (Su et al. 2021): numbers i and i + frequencies.size() of
// each head's query and key are rotated by the angle position * frequencies[i].
// Numbers from dims() on stay.
struct RotarySpec {
  std::vector<float> frequencies;
  // Factor of the rotated numbers (Peng et al. 2023, section 3.4).
  float magnitude = 1;

  // A row whose LengthOf() is above this has other frequencies; 0: all rows
  // have the same.
  int original_positions = 0;
  // The other frequencies, [frequencies.size()] (LongRoPE: Ding et al. 2024);
  // or empty, and the other frequencies are RotaryFrequencies() of
  //   theta * (factor * length / original_positions - factor + 1)
  //     ^ (dims / (dims - 2))
  // (dynamic NTK: Peng et al. 2023, section 3.3).
  std::vector<float> long_frequencies = {};
  float theta = 0;
  float factor = 0;
  // Only with long_frequencies, see uses_current_length().
  bool recomputes = true;

  int dims() const { return 2 * static_cast<int>(frequencies.size()); }
  // Whether frequencies depend on the length of a row's sequence.
  bool by_length() const { return original_positions > 0; }
  // True: all rows of a sequence use its current length. When a sequence grows
  // above original_positions, its earlier rows are computed again. False: a
  // token keeps the frequencies of the length that the sequence had when the
  // token came.
  bool uses_current_length() const {
    return recomputes && !long_frequencies.empty();
  }
  // The length whose frequencies the row at `position` has, in a sequence that
  // began with a prompt of `given` tokens and now has `tokens` tokens.
  int LengthOf(int position, int given, int tokens) const {
    if (uses_current_length()) return tokens;
    return position < given ? given : position + 1;
  }
  // A number for such a sequence. Two sequences with the same number have the
  // same frequencies at every position that both have.
  int FrequencyKind(int given, int tokens) const {
    if (uses_current_length()) return tokens > original_positions ? 1 : 0;
    if (given <= original_positions) return 0;
    return long_frequencies.empty() ? given : 1;
  }
  // The first argument of RotaryFrequencies() for `length` tokens. `length` is
  // at least original_positions, dims() is above 2.
  float StretchedTheta(int length) const;

  bool operator==(const RotarySpec&) const = default;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_ROTARY_SPEC_H_
