#ifndef ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_ENGINE_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "engine/api/engine.h"
#include "tests/server/scheduler/simulated_machine.h"

namespace attend {

class SimulatedContext;

// A sequence whose only result is the number of its tokens. Beams share the
// full blocks of what came before they parted; requests of a group share the
// full blocks of their beginning while one of them has them.
class SimulatedSequence final : public Sequence {
 public:
  // The context must outlive it.
  SimulatedSequence(int request, const SimulatedTask& task,
                    SimulatedContext& context);
  ~SimulatedSequence() override;

  Work Next() const override;
  const SequenceOutput& output() const override { return output_; }
  int max_blocks() const override;
  int blocks() const override;

  int request() const { return request_; }
  const SimulatedTask& task() const { return task_; }
  bool holds_memory() const {
    return own_blocks_ + cross_blocks_ + shared_blocks_ + encode_rows_ > 0;
  }

 private:
  friend class SimulatedContext;

  // Rows of each hypothesis before the next token can be chosen, but for the
  // last.
  int known() const { return task_.prompt + chosen_; }
  int width() const { return chosen_ == 0 && !task_.samples ? 1 : task_.beams; }
  int BlocksOf(int tokens) const;
  // Returns the rows that were computed; the others were found.
  int Compute(int rows);
  void Encode(int rows);
  void FindShared();
  void Grow(int tokens);
  void Choose();
  void Release();

  const int request_;
  const SimulatedTask task_;
  SimulatedContext& context_;
  SequenceOutput output_;
  int chosen_ = 0;  // tokens; output has them later if there are beams
  int encoded_ = 0;
  int computed_ = 0;  // decoder rows of each hypothesis
  int cross_blocks_ = 0;
  int own_blocks_ = 0;     // of the decoder
  int shared_blocks_ = 0;  // of its group: the first so many
  int encode_rows_ = 0;
};

// What a step was.
struct SimulatedStep {
  struct Part {
    int request = 0;
    Phase phase = Phase::kDone;
    int planned = 0;   // rows
    int computed = 0;  // rows
  };
  std::vector<Part> parts;
  std::vector<int> preempted;  // requests
  bool failed = false;
};

// An engine of one worker. It does not abort where a plan breaks a rule of
// engine.h, it complains.
class SimulatedContext final : public EngineContext {
 public:
  SimulatedContext(const SimulatedMachine& machine, Complaint& complaint);
  ~SimulatedContext() override;

  absl::Status Step(const StepPlan& plan) override;
  int total_blocks() const override { return machine_.blocks; }
  int free_blocks() const override { return free_blocks_; }
  int total_encode_rows() const override { return machine_.encode_rows; }
  int free_encode_rows() const override { return free_encode_rows_; }
  StepCounts counts() const override { return counts_; }
  absl::Span<const int> spared() const override { return spared_; }

  const SimulatedStep& last_step() const { return step_; }
  void FailNextStep() { fails_ = true; }
  // Called in each step when its rows are known: time passes.
  std::function<void(int decode_rows, int prompt_rows)> on_rows;

 private:
  friend class SimulatedSequence;

  // False if nothing of the plan may be computed.
  bool CheckPlan(const StepPlan& plan);
  bool CheckPiece(const Piece& piece, const StepPlan& plan);
  void TakeBlocks(int n);
  void TakeEncodeRows(int n);

  const SimulatedMachine machine_;
  Complaint& complaint_;
  std::unordered_set<const Sequence*> live_;  // all of this context
  int free_blocks_;
  int free_encode_rows_;
  // References to the shared blocks, [group][block].
  std::vector<std::vector<int>> references_;
  StepCounts counts_;
  std::vector<int> spared_;
  SimulatedStep step_;
  bool fails_ = false;
};

// Gives the worker the context that it was made with.
class SimulatedEngine final : public Engine {
 public:
  SimulatedEngine(const SimulatedMachine& machine, Complaint& complaint);

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<EngineContext> NewContext() const override;
  absl::StatusOr<std::unique_ptr<Sequence>> NewSequence(
      EngineRequest request) const override;

  // The worker owns it.
  SimulatedContext& context() const { return *context_; }

 private:
  ModelInfo info_;
  const SimulatedMachine machine_;
  Complaint& complaint_;
  mutable SimulatedContext* context_ = nullptr;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_ENGINE_H_
