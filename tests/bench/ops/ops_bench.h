#ifndef ATTEND_TESTS_BENCH_OPS_OPS_BENCH_H_
#define ATTEND_TESTS_BENCH_OPS_OPS_BENCH_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "server/app/options.h"
#include "tests/bench/ops/machine_limits.h"

// What the benchmarks of attend-ops-bench have in common.
namespace attend {

// OPUS-MT's base shape.
inline constexpr int kHidden = 512, kInner = 2048, kHeads = 8, kVocab = 58101;
inline constexpr ComputeType kComputeTypes[] = {
    ComputeType::kF32, ComputeType::kBf16, ComputeType::kInt8};

// Must outlive the benchmarks that are registered with it.
struct Setup {
  Compute& compute;
  ExecContext& attention;  // for ops that are not made
  const MachineLimits& limits;
  // Bytes of which a pass leaves nothing for the next one in any cache. What a
  // model's step finds in memory (weights, keys and values) is laid out as so
  // many copies and used in turn.
  size_t cold_bytes = 0;
  // Set by a benchmark that could not run.
  bool& failed;

  bool Has(ComputeType dtype) const {
    return limits.flop_per_second().count(dtype) > 0;
  }
};

// What one call of an op moves and computes at least: each number is read and
// written once.
struct OpWork {
  double bytes = 0;
  double flop = 0;  // in `dtype`
  ComputeType dtype = ComputeType::kF32;
};

// Sets the counters of a benchmark (see ops_bench.cc) whose calls took
// `seconds` each, while memory gave so many bytes a second.
void Report(benchmark::State& state, const Setup& setup, const OpWork& work,
            double seconds, double bytes_per_second);

// Ends the benchmark, and the program with an error.
void Fail(benchmark::State& state, const Setup& setup,
          const absl::Status& status);

// Times `call`, which returns nothing or an absl::Status, and reports. `work`
// is asked for afterwards.
template <typename Call, typename Work>
void Measure(benchmark::State& state, const Setup& setup, Call call,
             Work work) {
  const double before = setup.limits.BytesPerSecond();
  const absl::Time start = absl::Now();
  for (auto _ : state) {
    if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
      call();
    } else {
      const absl::Status status = call();
      if (!status.ok()) return Fail(state, setup, status);
    }
  }
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  Report(state, setup, work(), seconds / state.iterations(),
         std::max(before, setup.limits.BytesPerSecond()));
}

// Iterations: as many as --benchmark_min_time asks for, if 0.
void Register(const std::string& name,
              std::function<void(benchmark::State&)> run, int iterations = 0);

// Matmuls with their epilogues.
void RegisterMatMuls(const Setup& setup);
// The vocabulary projection, and passes over a row of logits.
void RegisterLogits(const Setup& setup);
// Operands, norms, embeddings.
void RegisterRowOps(const Setup& setup);
// Attention, and writing and copying of keys and values.
void RegisterAttention(const Setup& setup);
// Causal attention of long prompts, against its two matmuls alone.
void RegisterLongPrompts(const Setup& setup);
// Whole decoder steps of the model that `options` name.
void RegisterDecoderSteps(const Setup& setup, const ServerOptions& options);

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_OPS_OPS_BENCH_H_
