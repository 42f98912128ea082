#include "tests/bench/ops/machine_limits.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/check.h"
#include "tests/bench/ops/best_seconds.h"
#include "tests/bench/ops/dnnl_rate.h"

namespace attend {
namespace {

constexpr int kRounds = 3;
constexpr size_t kLineWords = 64 / sizeof(uint64_t);

// Far more than any cache: virtual machines may have the L3 of a whole host.
size_t StreamBytes() {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);  // NOLINT: its type
  return std::max(size_t{256} << 20,
                  2 * static_cast<size_t>(std::max(cache, 0L)));
}

// Sums one word of each line of [begin, begin + words): the line is what
// travels. Read from several places in turn, since prefetchers follow each of
// them: on some machines that moves half as much again as one stream.
template <int kStreams>
uint64_t ReadLines(const uint64_t* begin, size_t words) {
  const size_t part = words / kStreams / kLineWords * kLineWords;
  uint64_t sums[kStreams] = {};
  for (size_t at = 0; at < part; at += kLineWords) {
    for (int s = 0; s < kStreams; ++s) sums[s] += begin[s * part + at];
  }
  uint64_t sum = 0;
  for (const uint64_t s : sums) sum += s;
  return sum;
}

template <int kStreams>
double ReadRate(Compute& compute, const Buffer<uint64_t>& data) {
  const int members = compute.team().size();
  const size_t words = data.size() / members / kLineWords * kLineWords;
  std::vector<uint64_t> sums(members * kLineWords);
  const double seconds = BestSeconds(kRounds, [&] {
    compute.team().Run([&](int member) {
      sums[member * kLineWords] =
          ReadLines<kStreams>(data.data() + member * words, words);
    });
  });
  // Keeps the loop: every word is 0.
  for (const uint64_t sum : sums) ATTEND_CHECK(sum == 0);
  return static_cast<double>(words * sizeof(uint64_t)) * members / seconds;
}

}  // namespace

MachineLimits::MachineLimits(Compute& compute)
    : compute_(compute), memory_(StreamBytes() / sizeof(uint64_t)) {
  for (const ComputeType dtype :
       {ComputeType::kF32, ComputeType::kBf16, ComputeType::kInt8}) {
    if (!CheckComputeType(dtype, compute.isa()).ok()) continue;
    flop_per_second_[dtype] = DnnlFlopPerSecond(compute, dtype);
  }
}

double MachineLimits::BytesPerSecond() const {
  return std::max(ReadRate<1>(compute_, memory_),
                  ReadRate<4>(compute_, memory_));
}

}  // namespace attend
