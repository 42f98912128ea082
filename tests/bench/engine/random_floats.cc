#include "tests/bench/engine/random_floats.h"

#include <random>

namespace attend {

Buffer<float> RandomFloats(size_t count, float limit) {
  Buffer<float> values(count);
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(-limit, limit);
  for (size_t i = 0; i < count; ++i) values[i] = uniform(random);
  return values;
}

}  // namespace attend
