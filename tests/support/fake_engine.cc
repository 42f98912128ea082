#include "tests/support/fake_engine.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/tensor/check.h"
#include "tests/support/fake_results.h"

namespace attend {
namespace {

int CeilDiv(int a, int b) { return (a + b - 1) / b; }

}  // namespace

class FakeContext final : public EngineContext {
 public:
  FakeContext(const FakeEngine& engine, const FakeEngineOptions& options)
      : engine_(engine),
        total_blocks_(options.blocks),
        total_encode_rows_(options.encode_rows),
        free_blocks_(options.blocks),
        free_encode_rows_(options.encode_rows) {}
  ~FakeContext() override {
    ATTEND_CHECK(free_blocks_ == total_blocks_);
    ATTEND_CHECK(free_encode_rows_ == total_encode_rows_);
  }

  int total_blocks() const override { return total_blocks_; }
  int free_blocks() const override { return free_blocks_; }
  int total_encode_rows() const override { return total_encode_rows_; }
  int free_encode_rows() const override { return free_encode_rows_; }
  StepCounts counts() const override { return counts_; }
  absl::Status Step(const StepPlan& plan) override;

 private:
  friend class FakeSequence;

  void Count(const StepCounts& step) {
    counts_.spared_rows += step.spared_rows;
    counts_.queried_tokens += step.queried_tokens;
    counts_.hit_tokens += step.hit_tokens;
  }
  void TakeBlocks(int n) {
    CheckThread();
    free_blocks_ -= n;
    ATTEND_CHECK(free_blocks_ >= 0 && free_blocks_ <= total_blocks_);
  }
  void TakeEncodeRows(int n) {
    CheckThread();
    free_encode_rows_ -= n;
    ATTEND_CHECK(free_encode_rows_ >= 0);
  }
  // One thread steps, whoever made the context.
  void CheckThread() {
    if (thread_ == std::thread::id()) thread_ = std::this_thread::get_id();
    ATTEND_CHECK(std::this_thread::get_id() == thread_);
  }

  const FakeEngine& engine_;
  std::thread::id thread_;
  const int total_blocks_;
  const int total_encode_rows_;
  int free_blocks_;
  int free_encode_rows_;
  StepCounts counts_;
};

class FakeSequence final : public Sequence {
 public:
  FakeSequence(EngineRequest request, const ModelInfo& info, int block_tokens,
               std::atomic<int>& live)
      : task_(std::move(request.task)),
        info_(info),
        block_tokens_(block_tokens),
        live_(live) {
    if (auto* prompt = std::get_if<Prompt>(&request.input)) {
      prompt_ = std::move(prompt->ids);
    } else {
      source_ = std::get<SourceTokens>(std::move(request.input));
    }
    if (const auto* task = std::get_if<GenerateTask>(&task_)) {
      params_ = task->params;
    }
    hypotheses_ = std::max(params_.num_beams, params_.num_return_sequences);
    output_.choices.resize(std::max(1, params_.num_return_sequences));
    for (ChoiceOutput& choice : output_.choices) {
      choice.tokens.reserve(new_tokens());
      choice.log_probs.reserve(new_tokens());
    }
    live_ += 1;
  }
  ~FakeSequence() override {
    Release();
    live_ -= 1;
  }

  Work Next() const override {
    const int source = static_cast<int>(source_.ids.size());
    if (output_.finished) return {};
    if (!encodes_only() && new_tokens() == 0) return {};
    if (encoded_ < source) {
      return {.phase = Phase::kEncode,
              .rows = source - encoded_,
              .blocks = encoded_ > 0 ? 0 : CrossBlocks(),
              .encode_rows = encoded_ > 0 ? 0 : source};
    }
    if (computed_ < known()) {
      return {.phase = Phase::kPrompt,
              .rows = known() - computed_,
              .blocks = SelfBlocks(known()) - self_blocks_,
              .encode_rows = 0};
    }
    return {.phase = Phase::kDecode,
            .rows = hypotheses_,
            .blocks = SelfBlocks(computed_ + 1) - self_blocks_,
            .encode_rows = 0};
  }
  const SequenceOutput& output() const override { return output_; }
  int max_blocks() const override {
    if (encodes_only()) return 0;
    return CrossBlocks() + SelfBlocks(before() + prefix() + new_tokens());
  }
  int blocks() const override { return cross_blocks_ + self_blocks_; }

  void Compute(FakeContext& context, int rows) {
    ATTEND_CHECK(context_ == nullptr || context_ == &context);
    context_ = &context;
    const Work work = Next();
    ATTEND_CHECK(work.phase != Phase::kDone && rows >= 1);
    ATTEND_CHECK(rows <= work.rows);
    if (work.phase == Phase::kEncode) return Encode(work, rows);
    ATTEND_CHECK(work.phase == Phase::kPrompt || rows == work.rows);
    context.TakeBlocks(work.blocks);
    self_blocks_ += work.blocks;
    if (work.phase == Phase::kPrompt) {
      computed_ += rows;
      if (is_score()) Emit(std::max(computed_ - before(), 0) - generated());
    } else {
      computed_ += 1;
      Emit(1);
    }
  }

  // Gives everything back; what was generated is kept.
  void Release() {
    if (context_ == nullptr) return;
    context_->TakeBlocks(-blocks());
    context_->TakeEncodeRows(-encode_rows_);
    cross_blocks_ = self_blocks_ = encode_rows_ = encoded_ = computed_ = 0;
    context_ = nullptr;
  }

 private:
  bool is_score() const { return std::holds_alternative<ScoreTask>(task_); }
  bool encodes_only() const {
    return !is_score() && !std::holds_alternative<GenerateTask>(task_);
  }
  int new_tokens() const {
    return is_score()
               ? static_cast<int>(std::get<ScoreTask>(task_).target.size())
               : params_.max_new_tokens;
  }
  // Tokens of the prompt but for its last, which is in the decoder start's
  // place.
  int before() const {
    return std::max(static_cast<int>(prompt_.size()) - 1, 0);
  }
  int prefix() const { return static_cast<int>(params_.forced_prefix.size()); }
  int input_tokens() const {
    return static_cast<int>(source_.ids.size() + prompt_.size());
  }
  int generated() const {
    return static_cast<int>(output_.choices[0].tokens.size());
  }
  // Decoder rows to compute before a token can be chosen, but for the last.
  int known() const {
    return before() + (is_score() ? new_tokens() : prefix() + generated());
  }
  int CrossBlocks() const {
    if (encodes_only()) return 0;
    return CeilDiv(static_cast<int>(source_.ids.size()), block_tokens_);
  }
  int SelfBlocks(int rows) const {
    return hypotheses_ * CeilDiv(rows, block_tokens_);
  }

  void Encode(const Work& work, int rows) {
    context_->TakeBlocks(work.blocks);
    cross_blocks_ += work.blocks;
    context_->TakeEncodeRows(work.encode_rows);
    encode_rows_ += work.encode_rows;
    encoded_ += rows;
    if (rows < work.rows) return;
    context_->TakeEncodeRows(-encode_rows_);
    encode_rows_ = 0;
    if (encodes_only()) EmitEncoded();
  }

  void EmitEncoded() {
    output_.finished = true;
    if (const auto* fill = std::get_if<FillMaskTask>(&task_)) {
      output_.choices.resize(fill->rows.size());
      for (size_t i = 0; i < fill->rows.size(); ++i) {
        for (int k = 0; k < fill->top; ++k) {
          output_.choices[i].top.push_back(
              {FakeCandidate(source_, fill->rows[i], k), -1.0f - k});
        }
      }
      return;
    }
    output_.choices.clear();
    const auto* embed = std::get_if<EmbedTask>(&task_);
    const bool per_token = embed ? embed->per_token : info_.labels_tokens;
    output_.width = embed == nullptr ? static_cast<int>(info_.labels.size())
                    : per_token      ? info_.token_width
                    : embed->dimensions > 0 ? embed->dimensions
                                            : info_.embedding_width;
    const int tokens = static_cast<int>(source_.ids.size());
    output_.values.assign(
        static_cast<size_t>(output_.width) * (per_token ? tokens : 1), 0);
    for (int t = 0; t < tokens; ++t) {
      for (int i = 0; i < output_.width; ++i) {
        output_.values[(per_token ? t * output_.width : 0) + i] +=
            FakeValue(source_, t, i);
      }
    }
    if (embed == nullptr || !embed->normalize.value_or(false)) return;
    const float first = output_.values[0];
    for (float& value : output_.values) value /= first;
  }

  void Emit(int n) {
    if (params_.prompt_log_probs && generated() == 0) EmitPrompt();
    for (ChoiceOutput& choice : output_.choices) {
      for (int i = 0; i < n; ++i) {
        const int at = static_cast<int>(choice.tokens.size());
        choice.tokens.push_back(is_score()
                                    ? std::get<ScoreTask>(task_).target[at]
                                : at == 0 && params_.forced_bos_id >= 0
                                    ? params_.forced_bos_id
                                    : FakeToken(input_tokens(), at));
        if (is_score() || params_.log_probs) choice.log_probs.push_back(-1);
      }
    }
    if (generated() < new_tokens()) return;
    output_.finished = true;
    for (ChoiceOutput& choice : output_.choices) {
      choice.finish = params_.eos_ids.empty() ? FinishReason::kMaxLength
                                              : FinishReason::kEos;
    }
  }

  void EmitPrompt() {
    ChoiceOutput& prompt = output_.prompt;
    const auto add = [&](int id) {
      const float log_prob = FakePromptLogProb(prompt.tokens.size());
      prompt.tokens.push_back(id);
      prompt.log_probs.push_back(log_prob);
      for (int k = 0; k < params_.top_log_probs; ++k) {
        prompt.top.push_back({id + k, log_prob - k});
      }
    };
    std::for_each(prompt_.begin() + 1, prompt_.end(), add);
    std::for_each(params_.forced_prefix.begin(), params_.forced_prefix.end(),
                  add);
  }

  // One of these is empty.
  SourceTokens source_;
  std::vector<int> prompt_;
  const decltype(EngineRequest::task) task_;
  const ModelInfo& info_;
  const int block_tokens_;
  std::atomic<int>& live_;
  GenerationParams params_;
  int hypotheses_ = 1;
  SequenceOutput output_;
  FakeContext* context_ = nullptr;  // where its memory is; null: it has none
  int encoded_ = 0;
  int computed_ = 0;  // decoder rows of each hypothesis
  int cross_blocks_ = 0;
  int self_blocks_ = 0;
  int encode_rows_ = 0;
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
  return std::make_unique<FakeSequence>(std::move(request), options_.info,
                                        options_.block_tokens, live_sequences_);
}

absl::Status FakeContext::Step(const StepPlan& plan) {
  CheckThread();
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
    static_cast<FakeSequence*>(piece.sequence)->Compute(*this, piece.rows);
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
