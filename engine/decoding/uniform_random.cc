#include "engine/decoding/uniform_random.h"

namespace attend {

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

double UniformRandom(uint64_t seed, uint32_t choice, uint32_t position) {
  const std::array<uint32_t, 4> bits =
      Philox({position, choice, 0, 0},
             {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t wide = uint64_t{bits[1]} << 32 | bits[0];
  return static_cast<double>(wide >> 11) * 0x1p-53;
}

}  // namespace attend
