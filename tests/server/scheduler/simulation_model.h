#ifndef ATTEND_TESTS_SERVER_SCHEDULER_SIMULATION_MODEL_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_SIMULATION_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/scheduler/scheduler.h"
#include "tests/server/scheduler/fairness_check.h"
#include "tests/server/scheduler/scenario.h"
#include "tests/server/scheduler/simulated_engine.h"
#include "tests/server/scheduler/simulated_request.h"
#include "tests/server/scheduler/simulation.h"

namespace attend {

// What must be true of the scheduler: who waits, who runs, who has to be
// answered and how. Follows what the engine was asked to compute and what
// listeners were told, and complains where the scheduler does something else.
class SimulationModel {
 public:
  // All must outlive the model.
  SimulationModel(const Scenario& scenario, Complaint& complaint,
                  SimulationCounts& counts);

  // Nobody waits or runs.
  bool idle() const { return live_.empty(); }
  int live() const { return static_cast<int>(live_.size()); }

  // A request comes. Tell the model how the queue answered.
  SimulatedRequest& Arrive(const ScenarioEvent& event,
                           SimulatedSequence* sequence, absl::Time now);
  void OnPushed(SimulatedRequest& request, const absl::Status& status);
  void Cancel(int request);

  // What must become of all, before each stage; and after it, whether it has.
  void ExpectSweep(absl::Time now);
  void ExpectDelivery(const SimulatedStep& step);
  void ExpectClose();
  void CheckAnswers(const char* when);

  // Call the first one before the step is planned.
  void ExpectPlan(int free_blocks);
  void CheckStep(const SimulatedStep& step, absl::Duration took);
  // `step` is null if there was none.
  void CheckReport(const StepReport& report, const SimulatedStep* step,
                   absl::Duration took, const StepCounts& counts,
                   int used_blocks);

 private:
  using State = SimulatedRequest::State;

  // What the queue must answer.
  absl::StatusCode PushAnswer(const SimulatedRequest& request) const;
  void CheckLimits(const SimulatedStep& step);
  void CheckStart(SimulatedRequest& request);
  void CheckFairness(const SimulatedStep& step);

  const Scenario& scenario_;
  Complaint& complaint_;
  SimulationCounts& counts_;
  bool clock_is_set_ = false;     // sometimes
  bool memory_is_short_ = false;  // not all that run may go on
  // By number; null where there is none.
  std::vector<std::unique_ptr<SimulatedRequest>> requests_;
  std::vector<SimulatedRequest*> live_;  // not answered, in order of arrival
  int64_t arrived_work_ = 0;
  int64_t ended_work_ = 0;
  absl::Duration longest_step_;
  FairnessCheck fairness_;
  std::vector<char> waits_;                     // [tenant]: before the step
  std::vector<int> decode_rows_, prompt_rows_;  // [tenant]: of the step
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_SIMULATION_MODEL_H_
