#ifndef ATTEND_TESTS_ENGINE_RUNTIME_DRIVER_H_
#define ATTEND_TESTS_ENGINE_RUNTIME_DRIVER_H_

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "engine/api/engine.h"

namespace attend {

// Runs requests on an engine in one loop, as a scheduler would. A test can make
// the choices random: when a request joins, how pieces are cut, which sequence
// is preempted. The choices must not show in the results.
class Driver {
 public:
  struct Policy {
    int max_rows = 1 << 20;  // of a step, besides the engine's own limit
    // Joins and cuts are drawn from this seed; 0: all join at once, whole.
    uint32_t seed = 0;
    // Preempt a running sequence now and then even if there is room.
    bool preempt_at_random = false;
  };

  explicit Driver(const Engine& engine);
  Driver(const Engine& engine, Policy policy);

  // Results of all requests, in their order. Aborts on an error.
  std::vector<SequenceOutput> Run(std::vector<EngineRequest> requests);

  int steps() const { return steps_; }
  int preemptions() const { return preemptions_; }
  int most_running() const { return most_running_; }
  EngineContext& context() { return *context_; }

 private:
  struct Running {
    std::unique_ptr<Sequence> sequence;
    size_t index;  // of the request
  };

  bool Draw(double probability);
  void Admit(std::vector<Running>& waiting, std::vector<Running>& running);
  void PreemptForRoom(std::vector<Running>& running);
  void PlanPieces(const std::vector<Running>& running);
  // The rows that each piece was spared are those of the step.
  void CheckSpared(int64_t of_step) const;

  const Engine& engine_;
  const Policy policy_;
  std::mt19937 random_;
  std::unique_ptr<EngineContext> context_;
  StepPlan plan_;
  int steps_ = 0;
  int preemptions_ = 0;
  int most_running_ = 0;
};

// Results of requests that never meet: each on a driver of its own.
std::vector<SequenceOutput> RunAlone(const Engine& engine,
                                     std::vector<EngineRequest> requests);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_RUNTIME_DRIVER_H_
