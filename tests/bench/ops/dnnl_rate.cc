#include "tests/bench/ops/dnnl_rate.h"

#include <omp.h>

#include <algorithm>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/tensor/buffer.h"
#include "tests/bench/ops/best_seconds.h"

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
Types TypesOf(ComputeType dtype) {
  switch (dtype) {
    case ComputeType::kF32:
      return {Type::f32, Type::f32, Type::f32};
    case ComputeType::kBf16:
      return {Type::bf16, Type::bf16, Type::f32};
    case ComputeType::kInt8:
      return {Type::u8, Type::s8, Type::s32};
    case ComputeType::kW8:
    case ComputeType::kInt4:
      break;  // oneDNN has none
  }
  return {};
}

matmul::primitive_desc MatMulDesc(const dnnl::engine& engine, ComputeType dtype,
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

// One matmul by each member at once, some times.
class Round {
 public:
  Round(Compute& compute, ComputeType dtype, int m, int k, int n)
      : compute_(compute) {
    // The team's threads are all there are: oneDNN shall start no others.
    compute.team().Run([](int) { omp_set_num_threads(1); });
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const auto desc = MatMulDesc(engine, dtype, m, k, n);
    for (int i = 0; i < compute.team().size(); ++i) {
      work_.emplace_back(engine, desc);
    }
    const double flop = 2.0 * m * k * n;
    times_ = std::max(1, static_cast<int>(kRoundFlop / flop));
    flop_ = flop * times_ * compute.team().size();
  }

  double flop() const { return flop_; }
  // The shortest of so many.
  double Seconds(int rounds) {
    return BestSeconds(rounds, [&] {
      compute_.team().Run([&](int member) { work_[member].Run(times_); });
    });
  }

 private:
  Compute& compute_;
  std::vector<Multiplication> work_;
  int times_ = 0;
  double flop_ = 0;
};

}  // namespace

double DnnlFlopPerSecond(Compute& compute, ComputeType dtype) {
  double best = 0;
  for (const auto [k, n] : kShapes) {
    for (const int m : kRows) {
      Round round(compute, dtype, m, k, n);
      best = std::max(best, round.flop() / round.Seconds(kRounds));
    }
  }
  return best;
}

class DnnlAttention::Matmul : public Round {
 public:
  using Round::Round;
};

DnnlAttention::DnnlAttention(Compute& compute, int head_dim) {
  constexpr int kSize = 512;  // queries, and keys
  scores_ = std::make_unique<Matmul>(compute, ComputeType::kF32, kSize,
                                     head_dim, kSize);
  values_ = std::make_unique<Matmul>(compute, ComputeType::kF32, kSize, kSize,
                                     head_dim);
}
DnnlAttention::~DnnlAttention() = default;

double DnnlAttention::FlopPerSecond() {
  return (scores_->flop() + values_->flop()) /
         (scores_->Seconds(1) + values_->Seconds(1));
}

}  // namespace attend
