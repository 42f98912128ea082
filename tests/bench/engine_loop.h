#ifndef ATTEND_TESTS_BENCH_ENGINE_LOOP_H_
#define ATTEND_TESTS_BENCH_ENGINE_LOOP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "server/scheduler/batcher.h"
#include "server/scheduler/step_cost.h"

namespace attend {

// What a step computed.
struct StepRows {
  int decode = 0;  // decoder rows, each of which wants logits
  int encode = 0;  // encoder rows through all layers
};

struct LoopResult {
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads of the process
  std::vector<StepRows> steps;
  std::vector<SequenceOutput> outputs;  // in the order of the requests
};

// The engine without a server: one loop on the calling thread, with the
// server's own policy for who computes what in a step. A request joins as soon
// as another one has ended.
class EngineLoop {
 public:
  // `engine` must outlive the loop, and the context every Run().
  EngineLoop(const Engine& engine, const BatcherOptions& options);

  // Runs all requests in their order, at most `in_flight` at a time.
  absl::StatusOr<LoopResult> Run(std::vector<EngineRequest> requests,
                                 int in_flight);

  // Seconds of each of `steps` steps in which all of `requests` decode and
  // nothing else happens. They must run long enough for it.
  absl::StatusOr<std::vector<double>> TimeDecodes(
      std::vector<EngineRequest> requests, int steps);

 private:
  struct Entry {
    std::unique_ptr<Sequence> sequence;
    size_t index = 0;  // of the request
    int room = 0;      // see RequestView
    int64_t last_piece = 0;
  };

  absl::Status Join(EngineRequest request, size_t index);
  void Plan();
  void AddPiece(Entry& entry, int rows);
  absl::Status Step();
  // Takes the outputs of what has ended.
  void Collect(std::vector<SequenceOutput>& outputs);
  bool AllDecode() const;

  const Engine& engine_;
  const std::unique_ptr<EngineContext> context_;
  Batcher batcher_;
  StepCost cost_;
  std::vector<Entry> waiting_;
  std::vector<Entry> running_;
  StepPlan plan_;
  StepRows rows_;  // of the step at hand
  int64_t pieces_ = 0;
};

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_ENGINE_LOOP_H_
