#ifndef ATTEND_ENGINE_TENSOR_FOUR_BIT_GROUP_H_
#define ATTEND_ENGINE_TENSOR_FOUR_BIT_GROUP_H_

#include <cstdint>

namespace attend {

// Number of elements of a row that share a scale.
inline constexpr int kGroupNumbers = 32;

// Elements of 4 bits: element i is scale * codes[i] + min.
struct FourBitGroup {
  uint16_t scale = 0;                 // f16
  uint16_t min = 0;                   // f16
  uint8_t codes[kGroupNumbers] = {};  // below 16
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_FOUR_BIT_GROUP_H_
