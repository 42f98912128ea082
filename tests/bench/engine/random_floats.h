#ifndef ATTEND_TESTS_BENCH_ENGINE_RANDOM_FLOATS_H_
#define ATTEND_TESTS_BENCH_ENGINE_RANDOM_FLOATS_H_

#include <cstddef>

#include "engine/tensor/buffer.h"

namespace attend {

// `count` floats, uniform in [-limit, limit), the same ones in every run.
Buffer<float> RandomFloats(size_t count, float limit);

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_ENGINE_RANDOM_FLOATS_H_
