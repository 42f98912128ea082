#include "tests/bench/dnnl_rate.h"

#include <omp.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/tensor/buffer.h"
#include "tests/bench/best_seconds.h"

namespace attend {
namespace {

using dnnl::matmul;
using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

constexpr int kRounds = 5;
constexpr int kRows[] = {16, 32, 64, 128, 256, 512};
constexpr struct {
  int k, n;
} kShapes[] = {{512, 512}, {512, 2048}, {2048, 512}};
// A round is long enough for the clock, and short: some milliseconds.
constexpr double kRoundFlop = 4e8;

struct Types {
  Type src, weights, dst;
};

// Those of the engine's matmuls.
Types TypesOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return {Type::f32, Type::f32, Type::f32};
    case DType::kBf16:
      return {Type::bf16, Type::bf16, Type::f32};
    case DType::kInt8:
      return {Type::u8, Type::s8, Type::s32};
  }
  return {};
}

matmul::primitive_desc MatMulDesc(const dnnl::engine& engine, DType dtype,
                                  int m, int k, int n) {
  const Types types = TypesOf(dtype);
  const memory::desc src({m, k}, types.src, Tag::ab);
  const memory::desc weights({k, n}, types.weights, Tag::any);
  const memory::desc dst({m, n}, types.dst, Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, src, weights, dst};
#else
  return {matmul::desc(src, weights, dst), engine};
#endif
}

// One member's matmul, with memory of its own. Zeros: what is multiplied does
// not change the time.
class Multiplication {
 public:
  Multiplication(const dnnl::engine& engine, const matmul::primitive_desc& desc)
      : primitive_(desc), stream_(engine) {
    for (const auto& [argument, part] :
         {std::pair(DNNL_ARG_SRC, desc.src_desc()),
          {DNNL_ARG_WEIGHTS, desc.weights_desc()},
          {DNNL_ARG_DST, desc.dst_desc()}}) {
      buffers_.emplace_back(part.get_size());
      arguments_.emplace(argument,
                         memory(part, engine, buffers_.back().data()));
    }
  }

  void Run(int times) {
    for (int i = 0; i < times; ++i) primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  matmul primitive_;
  dnnl::stream stream_;
  std::vector<Buffer<char>> buffers_;
  std::unordered_map<int, memory> arguments_;
};

// The shortest time, and the FLOP, of one matmul by each member at once.
struct Rate {
  double seconds = 0;
  double flop = 0;
};

Rate RateOf(Compute& compute, DType dtype, int m, int k, int n) {
  // The team's threads are all there are: oneDNN shall start no others.
  compute.team().Run([](int) { omp_set_num_threads(1); });
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const int members = compute.team().size();
  const auto desc = MatMulDesc(engine, dtype, m, k, n);
  std::vector<Multiplication> work;
  for (int i = 0; i < members; ++i) work.emplace_back(engine, desc);
  const double flop = 2.0 * m * k * n;
  const int times = std::max(1, static_cast<int>(kRoundFlop / flop));
  const double seconds = BestSeconds(kRounds, [&] {
    compute.team().Run([&](int member) { work[member].Run(times); });
  });
  return {seconds / times, members * flop};
}

}  // namespace

double DnnlFlopPerSecond(Compute& compute, DType dtype) {
  double best = 0;
  for (const auto [k, n] : kShapes) {
    for (const int m : kRows) {
      const Rate rate = RateOf(compute, dtype, m, k, n);
      best = std::max(best, rate.flop / rate.seconds);
    }
  }
  return best;
}

double DnnlAttentionFlopPerSecond(Compute& compute, int head_dim) {
  constexpr int kSize = 512;  // queries, and keys
  const Rate scores = RateOf(compute, DType::kF32, kSize, head_dim, kSize);
  const Rate values = RateOf(compute, DType::kF32, kSize, kSize, head_dim);
  return (scores.flop + values.flop) / (scores.seconds + values.seconds);
}

}  // namespace attend
