#ifndef ATTEND_TESTS_BENCH_ENGINE_ENGINE_LOOP_H_
#define ATTEND_TESTS_BENCH_ENGINE_ENGINE_LOOP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"
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
  std::vector<SequenceOutput> outputs;       // in the order of the requests
  std::map<std::string, double> op_seconds;  // see OpSeconds; empty: not asked
};

// Requests for so many decode rows that none ends before the longest target,
// for EngineLoop::Start().
std::vector<EngineRequest> SteadyRequests(const Engine& engine, int rows,
                                          int beams, int source_tokens);

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

  // Steady decoding, one step at a time: joins all of `requests` and runs until
  // each of them decodes. An error if one ends before: they are too short, or
  // the KV cache is too small for all of them.
  absl::Status Start(std::vector<EngineRequest> requests);
  // The next step, in which all of them decode and nothing else happens. An
  // error if that cannot be, since one has ended or the KV cache is full.
  absl::Status Decode();
  // New tokens of all that run, if their search is greedy.
  int64_t RunningTokens() const;
  // Drops what runs and waits.
  void Stop();

 private:
  struct Entry {
    std::unique_ptr<Sequence> sequence;
    size_t index = 0;  // of the request
    absl::Time arrival;
    int blocks_when_preempted = 0;  // see RequestView
    int64_t last_piece = 0;
  };

  absl::Status Join(EngineRequest request, size_t index);
  void Plan();
  void AddPiece(Entry& entry, int rows);
  absl::Status Step();
  absl::Status CheckNoneEnded() const;
  // Takes the outputs of what has ended.
  void Collect(std::vector<SequenceOutput>& outputs);

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

#endif  // ATTEND_TESTS_BENCH_ENGINE_ENGINE_LOOP_H_
