#ifndef ATTEND_ENGINE_DECODING_UNIFORM_RANDOM_H_
#define ATTEND_ENGINE_DECODING_UNIFORM_RANDOM_H_

#include <array>
#include <cstdint>

namespace attend {

// Philox 4x32 with 10 rounds: a random function of (counter, key), no state.
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key);

// A random number in [0, 1), in steps of 2^-53. It depends on nothing but the
// arguments, so neither other requests nor preemption change a sample. Philox's
// key is the seed (low word first); the counter is {position, choice, 0, 0},
// where `position` is the index of the new token. The first two words of the
// output are used.
double UniformRandom(uint64_t seed, uint32_t choice, uint32_t position);

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_UNIFORM_RANDOM_H_
