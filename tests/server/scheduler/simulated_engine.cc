#include "tests/server/scheduler/simulated_engine.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace attend {
namespace {

constexpr int kBlock = SimulatedMachine::kBlockTokens;

int CeilDiv(int a, int b) { return (a + b - 1) / b; }

}  // namespace

SimulatedSequence::SimulatedSequence(int request, const SimulatedTask& task,
                                     SimulatedContext& context)
    : request_(request), task_(task), context_(context) {
  output_.choices.resize(1);
  output_.choices[0].tokens.reserve(task.tokens);
  context_.live_.insert(this);
}

SimulatedSequence::~SimulatedSequence() {
  Release();
  context_.live_.erase(this);
}

Work SimulatedSequence::Next() const {
  if (output_.finished) return {};
  if (encoded_ < task_.source) {
    return {.phase = Phase::kEncode,
            .rows = task_.source - encoded_,
            .blocks = encoded_ > 0 || !task_.uses_blocks()
                          ? 0
                          : CeilDiv(task_.source, kBlock),
            .encode_rows =
                encoded_ > 0 ? 0 : CeilDiv(task_.source, kBlock) * kBlock,
            .uses_blocks = task_.uses_blocks()};
  }
  const int held = own_blocks_ + shared_blocks_;
  if (computed_ < known()) {
    return {.phase = Phase::kPrompt,
            .rows = known() - computed_,
            .blocks = BlocksOf(known()) - held};
  }
  if (!task_.decodes()) return {};
  return {.phase = Phase::kDecode,
          .rows = width(),
          .blocks = BlocksOf(computed_ + 1) - held};
}

int SimulatedSequence::max_blocks() const {
  if (!task_.uses_blocks()) return 0;
  return CeilDiv(task_.source, kBlock) +
         task_.beams *
             CeilDiv(task_.prompt + task_.tokens + task_.spare_tokens, kBlock);
}

int SimulatedSequence::blocks() const {
  int blocks = cross_blocks_ + own_blocks_;
  for (int i = 0; i < shared_blocks_; ++i) {
    blocks += context_.references_[task_.group][i] == 1;
  }
  return blocks;
}

int SimulatedSequence::BlocksOf(int tokens) const {
  if (tokens <= task_.prompt) return CeilDiv(tokens, kBlock);
  const int before = task_.prompt / kBlock;
  return before + width() * (CeilDiv(tokens, kBlock) - before);
}

int SimulatedSequence::Compute(int rows) {
  const Work work = Next();
  if (work.phase == Phase::kEncode) {
    Encode(rows);
    return rows;
  }
  if (work.phase == Phase::kDecode) {
    Grow(computed_ + 1);
    Choose();
    return rows;
  }
  if (computed_ == 0) FindShared();
  const int computed = std::min(rows, known() - computed_);
  Grow(computed_ + computed);
  if (computed_ == known() && !task_.decodes()) output_.finished = true;
  return computed;
}

void SimulatedSequence::Encode(int rows) {
  const Work work = Next();
  context_.TakeBlocks(work.blocks);
  cross_blocks_ += work.blocks;
  context_.TakeEncodeRows(work.encode_rows);
  encode_rows_ += work.encode_rows;
  encoded_ += rows;
  if (encoded_ < task_.source) return;
  context_.TakeEncodeRows(-encode_rows_);
  encode_rows_ = 0;
  if (!task_.uses_blocks()) output_.finished = true;
}

void SimulatedSequence::FindShared() {
  std::vector<int>& references = context_.references_[task_.group];
  const int most = std::min(task_.shared, task_.prompt) / kBlock;
  context_.counts_.queried_tokens += known();
  while (shared_blocks_ < most && references[shared_blocks_] > 0) {
    ++references[shared_blocks_++];
  }
  computed_ = shared_blocks_ * kBlock;
  context_.counts_.hit_tokens += computed_;
}

void SimulatedSequence::Grow(int tokens) {
  const int more = BlocksOf(tokens) - own_blocks_ - shared_blocks_;
  context_.TakeBlocks(more);
  own_blocks_ += more;
  computed_ = tokens;
  // What others may find now.
  std::vector<int>& references = context_.references_[task_.group];
  const int full = std::min({task_.shared, task_.prompt, computed_}) / kBlock;
  while (shared_blocks_ < full && references[shared_blocks_] == 0) {
    ++references[shared_blocks_++];
    --own_blocks_;
  }
}

void SimulatedSequence::Choose() {
  ++chosen_;
  std::vector<int>& tokens = output_.choices[0].tokens;
  output_.finished = chosen_ == task_.tokens;
  // Beams agree at the end only.
  if (task_.beams == 1 || output_.finished) tokens.resize(chosen_);
}

void SimulatedSequence::Release() {
  for (int i = shared_blocks_; i-- > 0;) {
    if (--context_.references_[task_.group][i] == 0) context_.TakeBlocks(-1);
  }
  context_.TakeBlocks(-cross_blocks_ - own_blocks_);
  context_.TakeEncodeRows(-encode_rows_);
  cross_blocks_ = own_blocks_ = shared_blocks_ = encode_rows_ = 0;
  encoded_ = computed_ = 0;
}

SimulatedContext::SimulatedContext(const SimulatedMachine& machine,
                                   Complaint& complaint)
    : machine_(machine),
      complaint_(complaint),
      free_blocks_(machine.blocks),
      free_encode_rows_(machine.encode_rows),
      references_(SimulatedMachine::kGroups,
                  std::vector<int>(SimulatedMachine::kMostShared / kBlock)) {}

SimulatedContext::~SimulatedContext() {
  if (!live_.empty()) {
    complaint_.Add(
        absl::StrFormat("%d sequences outlive their context", live_.size()));
  }
  if (free_blocks_ != machine_.blocks ||
      free_encode_rows_ != machine_.encode_rows) {
    complaint_.Add(absl::StrFormat(
        "at the end %d of %d blocks and %d of %d encode rows are free",
        free_blocks_, machine_.blocks, free_encode_rows_,
        machine_.encode_rows));
  }
}

void SimulatedContext::TakeBlocks(int n) {
  free_blocks_ -= n;
  if (free_blocks_ >= 0 && free_blocks_ <= machine_.blocks) return;
  complaint_.Add(absl::StrFormat("%d of %d blocks are free", free_blocks_,
                                 machine_.blocks));
}

void SimulatedContext::TakeEncodeRows(int n) {
  free_encode_rows_ -= n;
  if (free_encode_rows_ >= 0) return;
  complaint_.Add(absl::StrFormat("%d encode rows are free", free_encode_rows_));
}

bool SimulatedContext::CheckPlan(const StepPlan& plan) {
  int rows = 0, blocks = 0, encode_rows = 0;
  for (const Piece& piece : plan.pieces) {
    if (!CheckPiece(piece, plan)) return false;
    const Work work = piece.sequence->Next();
    rows += piece.rows;
    blocks += work.blocks;
    encode_rows += work.encode_rows;
  }
  if (plan.pieces.empty()) complaint_.Add("the plan has no pieces");
  const auto check = [&](const char* what, int is, int limit) {
    if (is <= limit) return;
    complaint_.Add(
        absl::StrFormat("the plan has %d %s, limit is %d", is, what, limit));
  };
  check("rows", rows, machine_.max_step_rows);
  check("blocks", blocks, free_blocks_);
  check("encode rows", encode_rows, free_encode_rows_);
  return complaint_.empty();
}

bool SimulatedContext::CheckPiece(const Piece& piece, const StepPlan& plan) {
  if (live_.count(piece.sequence) == 0) {
    complaint_.Add("the plan has a sequence that is gone");
    return false;
  }
  const int request =
      static_cast<const SimulatedSequence*>(piece.sequence)->request();
  if (std::count_if(plan.pieces.begin(), plan.pieces.end(),
                    [&](const Piece& other) {
                      return other.sequence == piece.sequence;
                    }) > 1 ||
      std::count(plan.preempted.begin(), plan.preempted.end(), piece.sequence) >
          0) {
    complaint_.Add(absl::StrFormat("request %d is planned twice", request));
  }
  const Work work = piece.sequence->Next();
  if (piece.rows < 1 || piece.rows > work.rows ||
      (work.phase == Phase::kDecode && piece.rows != work.rows)) {
    complaint_.Add(absl::StrFormat("request %d gets %d of %d rows", request,
                                   piece.rows, work.rows));
  }
  return true;
}

absl::Status SimulatedContext::Step(const StepPlan& plan) {
  spared_.clear();
  step_.parts.clear();
  step_.preempted.clear();
  step_.failed = std::exchange(fails_, false);
  for (Sequence* sequence : plan.preempted) {
    if (live_.count(sequence) == 0) {
      complaint_.Add("a sequence is preempted that is gone");
      break;
    }
    auto* const own = static_cast<SimulatedSequence*>(sequence);
    own->Release();
    step_.preempted.push_back(own->request());
  }
  if (!CheckPlan(plan)) {
    spared_.assign(plan.pieces.size(), 0);
    return absl::InternalError("bad plan");
  }
  int decode_rows = 0, prompt_rows = 0;
  for (const Piece& piece : plan.pieces) {
    auto* const sequence = static_cast<SimulatedSequence*>(piece.sequence);
    const Phase phase = sequence->Next().phase;
    const int computed =
        step_.failed ? piece.rows : sequence->Compute(piece.rows);
    (phase == Phase::kDecode ? decode_rows : prompt_rows) += computed;
    spared_.push_back(piece.rows - computed);
    counts_.spared_rows += spared_.back();
    step_.parts.push_back({.request = sequence->request(),
                           .phase = phase,
                           .planned = piece.rows,
                           .computed = computed});
  }
  if (on_rows) on_rows(decode_rows, prompt_rows);
  return step_.failed ? absl::InternalError("simulated") : absl::OkStatus();
}

SimulatedEngine::SimulatedEngine(const SimulatedMachine& machine,
                                 Complaint& complaint)
    : machine_(machine), complaint_(complaint) {
  info_.max_step_rows = machine.max_step_rows;
  info_.max_beams = machine.max_beams;
}

std::unique_ptr<EngineContext> SimulatedEngine::NewContext() const {
  auto context = std::make_unique<SimulatedContext>(machine_, complaint_);
  context_ = context.get();
  return context;
}

absl::StatusOr<std::unique_ptr<Sequence>> SimulatedEngine::NewSequence(
    EngineRequest) const {
  return absl::UnimplementedError("sequences of tasks only");
}

}  // namespace attend
