#include "tests/engine/runtime/driver.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/tensor/check.h"

namespace attend {

Driver::Driver(const Engine& engine) : Driver(engine, Policy{}) {}

Driver::Driver(const Engine& engine, Policy policy)
    : engine_(engine),
      policy_(policy),
      random_(policy.seed),
      context_(engine.NewContext()) {}

bool Driver::Draw(double probability) {
  return std::bernoulli_distribution(probability)(random_);
}

std::vector<SequenceOutput> Driver::Run(std::vector<EngineRequest> requests) {
  std::vector<Running> waiting;
  for (size_t i = 0; i < requests.size(); ++i) {
    auto sequence = engine_.NewSequence(std::move(requests[i]));
    if (!sequence.ok()) {
      std::fprintf(stderr, "%s\n", sequence.status().ToString().c_str());
      std::abort();
    }
    waiting.push_back({*std::move(sequence), i});
  }
  if (policy_.seed != 0) std::shuffle(waiting.begin(), waiting.end(), random_);

  std::vector<SequenceOutput> results(requests.size());
  std::vector<Running> running;
  while (!waiting.empty() || !running.empty()) {
    plan_.preempted.clear();
    PreemptForRoom(running);
    if (plan_.preempted.empty()) Admit(waiting, running);
    PlanPieces(running);
    const int64_t before = context_->counts().spared_rows;
    const absl::Status status = context_->Step(plan_);
    ATTEND_CHECK(status.ok());
    CheckSpared(context_->counts().spared_rows - before);
    ++steps_;
    for (Running& one : running) {
      if (!one.sequence->status().ok()) {
        std::fprintf(stderr, "%s\n", one.sequence->status().ToString().c_str());
        std::abort();
      }
      if (one.sequence->output().finished) {
        results[one.index] = one.sequence->output();
        one.sequence.reset();
      }
    }
    std::erase_if(running,
                  [](const Running& one) { return one.sequence == nullptr; });
  }
  ATTEND_CHECK(context_->free_blocks() == context_->total_blocks());
  ATTEND_CHECK(context_->free_encode_rows() == context_->total_encode_rows());
  return results;
}

void Driver::Admit(std::vector<Running>& waiting,
                   std::vector<Running>& running) {
  int blocks = context_->free_blocks();
  int encode_rows = context_->free_encode_rows();
  for (const Running& one : running) {
    // An encode that preemption sent back has not taken its memory yet.
    blocks -= one.sequence->Next().blocks;
    encode_rows -= one.sequence->Next().encode_rows;
  }
  while (!waiting.empty()) {
    const Work work = waiting.front().sequence->Next();
    if (work.blocks > blocks || work.encode_rows > encode_rows) return;
    if (policy_.seed != 0 && !running.empty() && Draw(0.6)) return;
    blocks -= work.blocks;
    encode_rows -= work.encode_rows;
    running.push_back(std::move(waiting.front()));
    waiting.erase(waiting.begin());
    most_running_ = std::max(most_running_, static_cast<int>(running.size()));
  }
}

void Driver::PreemptForRoom(std::vector<Running>& running) {
  const auto preempt = [&](Sequence* sequence) {
    plan_.preempted.push_back(sequence);
    ++preemptions_;
  };
  int needed = 0;
  for (const Running& one : running) needed += one.sequence->Next().blocks;
  int free = context_->free_blocks();
  // The youngest go first, the oldest never.
  for (size_t i = running.size(); i-- > 1 && needed > free;) {
    needed -= running[i].sequence->Next().blocks;
    free += running[i].sequence->blocks();
    preempt(running[i].sequence.get());
  }
  if (policy_.preempt_at_random && plan_.preempted.empty() &&
      running.size() > 1 && Draw(0.1)) {
    preempt(running.back().sequence.get());
  }
}

void Driver::PlanPieces(const std::vector<Running>& running) {
  plan_.pieces.clear();
  int rows = std::min(policy_.max_rows, engine_.info().max_step_rows);
  int blocks = context_->free_blocks();
  int encode_rows = context_->free_encode_rows();
  for (const Running& one : running) {
    Sequence* sequence = one.sequence.get();
    if (std::count(plan_.preempted.begin(), plan_.preempted.end(), sequence)) {
      continue;
    }
    const Work work = sequence->Next();
    if (work.blocks > blocks || work.encode_rows > encode_rows) continue;
    int piece = work.rows;
    if (work.phase != Phase::kDecode) {
      piece = std::min(piece, rows);
      if (policy_.seed != 0 && piece > 1 && Draw(0.5)) {
        piece = std::uniform_int_distribution<int>(1, piece)(random_);
      }
    }
    if (piece == 0 || piece > rows) continue;
    plan_.pieces.push_back({sequence, piece});
    rows -= piece;
    blocks -= work.blocks;
    encode_rows -= work.encode_rows;
  }
}

void Driver::CheckSpared(int64_t of_step) const {
  const absl::Span<const int> spared = context_->spared();
  ATTEND_CHECK(spared.size() == plan_.pieces.size());
  for (size_t i = 0; i < spared.size(); ++i) {
    ATTEND_CHECK(spared[i] >= 0 && spared[i] <= plan_.pieces[i].rows);
    of_step -= spared[i];
  }
  ATTEND_CHECK(of_step == 0);
}

std::vector<SequenceOutput> RunAlone(const Engine& engine,
                                     std::vector<EngineRequest> requests) {
  std::vector<SequenceOutput> outputs;
  for (EngineRequest& request : requests) {
    std::vector<EngineRequest> one;
    one.push_back(std::move(request));
    outputs.push_back(Driver(engine).Run(std::move(one))[0]);
  }
  return outputs;
}

}  // namespace attend
