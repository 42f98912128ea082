// attend-ops-bench: each op, and whole decoder steps, against what the machine
// can do at best.
//
//   attend-ops-bench [--benchmark_filter=REGEX] [--benchmark_min_time=0.05]
//                    [other flags of Google Benchmark]
//                    [--model=DIR] [other flags of attend-server]
//
// Counters of each line: gb_per_second and gflop_per_second, of what the op has
// to move and compute at least; memory_gb_per_second, what all threads together
// read from memory just before or after, whichever was more; and
//
//   share_of_limit = limit / time of a call, where
//   limit = max(bytes / memory's rate, FLOP / best oneDNN rate of the dtype).
//
// The rates of oneDNN are measured at the start and stand in the context above
// the table. Attention computes in f32, whatever keys and values are kept in.
//
// Weights, keys and values come from memory, as in a step of a model (see
// Setup::cold_bytes); what belongs to rows stays in cache where it fits, so
// that ops on few rows can be above 1, or far below where a call costs more
// than its bytes. With --model also steps in which 1, 32 and 128 sequences
// decode, for each dtype (see DecoderStep::bytes).

#include "tests/bench/ops/ops_bench.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "engine/ops/attention/attention.h"
#include "engine/runtime/model.h"

namespace attend {

void Report(benchmark::State& state, const Setup& setup, const OpWork& work,
            double seconds, double bytes_per_second) {
  const double limit =
      std::max(work.bytes / bytes_per_second,
               work.flop / setup.limits.flop_per_second().at(work.dtype));
  state.counters["gflop_per_second"] = work.flop / seconds * 1e-9;
  state.counters["gb_per_second"] = work.bytes / seconds * 1e-9;
  state.counters["memory_gb_per_second"] = bytes_per_second * 1e-9;
  state.counters["share_of_limit"] = limit / seconds;
}

void Fail(benchmark::State& state, const Setup& setup,
          const absl::Status& status) {
  setup.failed = true;
  state.SkipWithError(status.ToString().c_str());
}

void Register(const std::string& name,
              std::function<void(benchmark::State&)> run, int iterations) {
  auto* const benchmark =
      benchmark::RegisterBenchmark(name.c_str(), std::move(run));
  benchmark->UseRealTime()->Unit(benchmark::kMicrosecond);
  if (iterations > 0) benchmark->Iterations(iterations);
}

namespace {

// Several times the last cache.
size_t ColdBytes() {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);  // NOLINT: its type
  return std::max(size_t{64} << 20,
                  4 * static_cast<size_t>(std::max(cache, 0L)));
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 2;
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto line = ParseCommandLine(arguments);
  if (!line.ok()) return Fail(line.status());
  const auto compute = NewCompute(line->options.compute);
  if (!compute.ok()) return Fail(compute.status());
  const Primitives none(**compute, AttentionScratchFloats(1024));
  ExecContext attention(**compute, none);

  const MachineLimits limits(**compute);
  for (const auto& [dtype, rate] : limits.flop_per_second()) {
    benchmark::AddCustomContext(std::string(TypeName(dtype)),
                                absl::StrFormat("%.0f GFLOP/s", rate * 1e-9));
  }
  bool failed = false;
  const Setup setup = {.compute = **compute,
                       .attention = attention,
                       .limits = limits,
                       .cold_bytes = ColdBytes(),
                       .failed = failed};
  RegisterMatMuls(setup);
  RegisterLogits(setup);
  RegisterRowOps(setup);
  RegisterAttention(setup);
  RegisterLongPrompts(setup);
  const auto names_model = [](const std::string& argument) {
    return absl::StartsWith(argument, "--model");
  };
  if (std::any_of(arguments.begin(), arguments.end(), names_model)) {
    RegisterDecoderSteps(setup, line->options);
  }
  const size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();  // what they keep needs `compute`
  benchmark::Shutdown();
  return failed || ran == 0 ? 1 : 0;
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) { return attend::Main(argc, argv); }
