#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/random_requests.h"
#include "tests/engine/runtime/same_bits.h"

namespace attend {
namespace {

// An engine is const: all that steps change is in the contexts and sequences.
TEST(ConcurrentContextsTest, StepAtTheSameTimeWithTheBitsThatOneHasAlone) {
  constexpr int kRequests = 30;
  // A team of one may be used by several.
  const LoadedModel model = Load(
      GoldenDirectory("marian/plain"),
      {.max_step_rows = 64, .max_source_tokens = 48, .kv_cache_bytes = 8 << 20},
      /*threads=*/1);
  const auto requests = [&](uint32_t seed) {
    return RandomRequests(model.engine(), kRequests, 40, 30, seed);
  };
  const std::vector<SequenceOutput> alone[] = {
      Driver(model.engine()).Run(requests(1)),
      Driver(model.engine()).Run(requests(2))};
  std::vector<SequenceOutput> together[2];
  const auto run = [&](uint32_t seed) {
    Driver driver(model.engine(), {.max_rows = 40, .seed = seed});
    together[seed - 1] = driver.Run(requests(seed));
  };
  std::thread other(run, 2);
  run(1);
  other.join();
  for (int i : {0, 1}) ExpectSameBits(together[i], alone[i]);
}

}  // namespace
}  // namespace attend
