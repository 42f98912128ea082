#ifndef ATTEND_ENGINE_TENSOR_FOUR_BIT_GROUP_H_
#define ATTEND_ENGINE_TENSOR_FOUR_BIT_GROUP_H_

#include <cstdint>

namespace attend {

// How many numbers of a row have a scale in common.
inline constexpr int kGroupNumbers = 32;

// Numbers in 4 bits each: number i is scale * codes[i] + min.
struct FourBitGroup {
  uint16_t scale = 0;                 // f16
  uint16_t min = 0;                   // f16
  uint8_t codes[kGroupNumbers] = {};  // below 16
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_FOUR_BIT_GROUP_H_
