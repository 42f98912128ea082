#ifndef ATTEND_TESTS_SUPPORT_FAKE_ENGINE_H_
#define ATTEND_TESTS_SUPPORT_FAKE_ENGINE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"

namespace attend {

inline constexpr int kFakeVocab = 1000;  // above all ids of prompts

struct FakeEngineOptions {
  ModelInfo info = {.name = "fake",
                    .family = "fake",
                    .dtype = "f32",
                    .source_vocab = kFakeVocab,
                    .target_vocab = kFakeVocab,
                    .generates = true,
                    .embeds = true,
                    .fills_masks = true,
                    .embedding_width = 4,
                    .token_width = 3,
                    .token_types = 2,
                    .max_source_tokens = 4096,
                    .max_target_tokens = 4096,
                    .max_beams = 8,
                    .max_step_rows = 4096,
                    .generation = {}};
  int blocks = 1 << 16;
  int block_tokens = 4;
  int encode_rows = 1 << 14;
  StepCounts counts_per_step = {};  // what each step claims
  // A source of so many tokens has no finite numbers when it is encoded.
  int broken_source = -1;
  // Called in each step, on the worker's thread, with no lock held, before
  // anybody sees the results. A test may advance a clock, cancel, or look at
  // the plan.
  std::function<void(const StepPlan&)> on_step = nullptr;
  // The number of steps that may run; AllowSteps() adds to it. Negative: no
  // limit.
  int64_t allowed_steps = -1;
};

// An engine without arithmetic. Phases, blocks and encode rows are as in a real
// engine; the output is known beforehand (see fake_results.h):
// * a source of n tokens takes n encode rows and ceil(n / block_tokens) blocks;
// * a prompt, a forced prefix, a target to score and a replay are prompts;
// * each of max(num_beams, num_return_sequences) hypotheses has its own blocks;
// * a generation begins with forced_bos_id and ends after max_new_tokens, with
//   kEos if eos_ids is not empty, else with kMaxLength;
// * all choices have the same tokens;
// * results of an encoder are FakeValue() and FakeCandidate(); a value has 1000
//   more for each number of the adapter, which is -1 without one; a normalised
//   vector is divided by its first number.
//
// Aborts if a plan breaks a rule of engine.h.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(FakeEngineOptions options = {});
  // Every sequence must have been destroyed.
  ~FakeEngine() override;

  const ModelInfo& info() const override { return options_.info; }
  std::unique_ptr<EngineContext> NewContext() const override;
  // INVALID_ARGUMENT if the source is empty or too long.
  absl::StatusOr<std::unique_ptr<Sequence>> NewSequence(
      EngineRequest request) const override;

  // Any thread may call these.
  void AllowSteps(int64_t n);
  void OpenGate();
  // Returns when a step waits because no more steps are allowed.
  void WaitUntilBlocked();
  // The next step returns `status`.
  void FailNextStep(absl::Status status);
  int64_t steps() const { return steps_; }
  int64_t preemptions() const { return preemptions_; }
  int live_sequences() const { return live_sequences_; }

 private:
  friend class FakeContext;
  void PassGate() const;

  const FakeEngineOptions options_;
  mutable std::atomic<int64_t> steps_ = 0;
  mutable std::atomic<int64_t> preemptions_ = 0;
  mutable std::atomic<int> live_sequences_ = 0;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  mutable std::condition_variable changed_;
  mutable int64_t allowed_steps_;
  mutable bool blocked_ = false;
  mutable absl::Status failure_;
};

// A task that generates `tokens` tokens from `source` tokens.
struct FakeTask {
  int source = 5;
  int tokens = 5;
  int beams = 1;
  int prefix = 0;
};
EngineRequest MakeFakeRequest(const FakeTask& task);

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_FAKE_ENGINE_H_
