#include "tests/support/fake_engine.h"

#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/tensor/check.h"
#include "tests/support/fake_memory.h"
#include "tests/support/fake_sequence.h"

namespace attend {

class FakeContext final : public EngineContext {
 public:
  FakeContext(const FakeEngine& engine, const FakeEngineOptions& options)
      : engine_(engine), memory_(options.blocks, options.encode_rows) {
    spared_.reserve(options.info.max_step_rows);
  }

  int total_blocks() const override { return memory_.total_blocks(); }
  int free_blocks() const override { return memory_.free_blocks(); }
  int total_encode_rows() const override { return memory_.total_encode_rows(); }
  int free_encode_rows() const override { return memory_.free_encode_rows(); }
  StepCounts counts() const override { return counts_; }
  absl::Span<const int> spared() const override { return spared_; }
  absl::Status Step(const StepPlan& plan) override;

 private:
  // What a step claims is of its first piece.
  void Count(const StepCounts& step) {
    spared_[0] = static_cast<int>(step.spared_rows);
    counts_.spared_rows += step.spared_rows;
    counts_.queried_tokens += step.queried_tokens;
    counts_.hit_tokens += step.hit_tokens;
  }

  const FakeEngine& engine_;
  FakeMemory memory_;
  StepCounts counts_;
  std::vector<int> spared_;
};

namespace {

// What may be planned, checked against the state before the step.
void CheckPlan(const StepPlan& plan, const FakeContext& context,
               int max_step_rows) {
  int rows = 0;
  int blocks = 0;
  int encode_rows = 0;
  for (size_t i = 0; i < plan.pieces.size(); ++i) {
    const Piece& piece = plan.pieces[i];
    const Work work = piece.sequence->Next();
    rows += piece.rows;
    blocks += work.blocks;
    encode_rows += work.encode_rows;
    for (size_t j = 0; j < i; ++j) {
      ATTEND_CHECK(plan.pieces[j].sequence != piece.sequence);
    }
    for (const Sequence* preempted : plan.preempted) {
      ATTEND_CHECK(preempted != piece.sequence);
    }
  }
  ATTEND_CHECK(!plan.pieces.empty());
  ATTEND_CHECK(rows <= max_step_rows);
  ATTEND_CHECK(blocks <= context.free_blocks());
  ATTEND_CHECK(encode_rows <= context.free_encode_rows());
}

}  // namespace

FakeEngine::FakeEngine(FakeEngineOptions options)
    : options_(std::move(options)), allowed_steps_(options_.allowed_steps) {}

FakeEngine::~FakeEngine() { ATTEND_CHECK(live_sequences_ == 0); }

std::unique_ptr<EngineContext> FakeEngine::NewContext() const {
  return std::make_unique<FakeContext>(*this, options_);
}

absl::StatusOr<std::unique_ptr<Sequence>> FakeEngine::NewSequence(
    EngineRequest request) const {
  const auto* prompt = std::get_if<Prompt>(&request.input);
  ATTEND_CHECK(prompt == nullptr || options_.info.continues_source);
  const int n = static_cast<int>(
      prompt ? prompt->ids.size()
             : std::get<SourceTokens>(request.input).ids.size());
  if (n < 1 || n > options_.info.max_source_tokens) {
    return absl::InvalidArgumentError(
        absl::StrFormat("source has %d tokens, limit is 1 to %d", n,
                        options_.info.max_source_tokens));
  }
  return std::make_unique<FakeSequence>(std::move(request), options_,
                                        live_sequences_);
}

absl::Status FakeContext::Step(const StepPlan& plan) {
  memory_.CheckThread();
  spared_.assign(plan.pieces.size(), 0);
  engine_.PassGate();
  for (Sequence* sequence : plan.preempted) {
    static_cast<FakeSequence*>(sequence)->Release();
    ++engine_.preemptions_;
  }
  const FakeEngineOptions& options = engine_.options_;
  CheckPlan(plan, *this, options.info.max_step_rows);
  if (options.on_step) options.on_step(plan);
  ++engine_.steps_;
  {
    std::lock_guard<std::mutex> lock(engine_.mutex_);
    if (!engine_.failure_.ok()) {
      return std::exchange(engine_.failure_, absl::OkStatus());
    }
  }
  for (const Piece& piece : plan.pieces) {
    static_cast<FakeSequence*>(piece.sequence)->Compute(memory_, piece.rows);
  }
  Count(options.counts_per_step);
  return absl::OkStatus();
}

void FakeEngine::PassGate() const {
  std::unique_lock<std::mutex> lock(mutex_);
  if (allowed_steps_ == 0) {
    blocked_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return allowed_steps_ != 0; });
    blocked_ = false;
  }
  if (allowed_steps_ > 0) --allowed_steps_;
}

void FakeEngine::AllowSteps(int64_t n) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (allowed_steps_ >= 0) allowed_steps_ += n;
  // A step that stands at the gate passes: it is not blocked any more.
  if (n > 0) blocked_ = false;
  changed_.notify_all();
}

void FakeEngine::OpenGate() {
  std::lock_guard<std::mutex> lock(mutex_);
  allowed_steps_ = -1;
  blocked_ = false;
  changed_.notify_all();
}

void FakeEngine::WaitUntilBlocked() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return blocked_; });
}

void FakeEngine::FailNextStep(absl::Status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  failure_ = std::move(status);
}

EngineRequest MakeFakeRequest(const FakeTask& task) {
  GenerationParams params;
  params.max_new_tokens = task.tokens;
  params.num_beams = task.beams;
  params.forced_prefix.assign(task.prefix, 7);
  SourceTokens source;
  for (int i = 0; i < task.source; ++i) source.ids.push_back(i);
  return {.input = std::move(source), .task = GenerateTask{params}};
}

}  // namespace attend
