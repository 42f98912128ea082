#include "tests/bench/engine/engine_loop.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) * 1e-6;
}

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

}  // namespace

std::vector<EngineRequest> SteadyRequests(const Engine& engine, int rows,
                                          int beams, int source_tokens) {
  const ModelInfo& info = engine.info();
  GenerationParams params = info.generation;
  params.num_beams = beams;
  params.num_return_sequences = 1;
  params.do_sample = false;
  // A prompt takes positions of what is generated.
  const int prompt = info.continues_source ? source_tokens : 0;
  params.max_new_tokens = params.min_new_tokens =
      info.max_target_tokens - prompt - 1;
  std::vector<EngineRequest> requests;
  for (int row = 0; row < rows; row += beams) {
    std::vector<int> ids;
    for (int64_t i = 0; i < source_tokens; ++i) {
      ids.push_back(static_cast<int>(1 + (row * 7919 + i * 104729) %
                                             (info.source_vocab - 2)));
    }
    EngineRequest& request = requests.emplace_back();
    request.input = InputOf(info, {.ids = std::move(ids)});
    request.task = GenerateTask{params};
  }
  return requests;
}

EngineLoop::EngineLoop(const Engine& engine, const BatcherOptions& options)
    : engine_(engine), context_(engine.NewContext()), batcher_(options) {}

absl::StatusOr<LoopResult> EngineLoop::Run(std::vector<EngineRequest> requests,
                                           int in_flight) {
  LoopResult result;
  result.outputs.resize(requests.size());
  const double cpu = CpuSeconds();
  const absl::Time start = absl::Now();
  size_t next = 0;
  while (next < requests.size() || !waiting_.empty() || !running_.empty()) {
    while (next < requests.size() &&
           static_cast<int>(waiting_.size() + running_.size()) < in_flight) {
      RETURN_IF_ERROR(Join(std::move(requests[next]), next));
      ++next;
    }
    Plan();
    RETURN_IF_ERROR(Step());
    result.steps.push_back(rows_);
    Collect(result.outputs);
  }
  result.seconds = absl::ToDoubleSeconds(absl::Now() - start);
  result.cpu_seconds = CpuSeconds() - cpu;
  return result;
}

absl::Status EngineLoop::Start(std::vector<EngineRequest> requests) {
  for (size_t i = 0; i < requests.size(); ++i) {
    RETURN_IF_ERROR(Join(std::move(requests[i]), i));
  }
  const auto decodes = [](const Entry& entry) {
    return entry.sequence->Next().phase == Phase::kDecode;
  };
  while (!waiting_.empty() ||
         !std::all_of(running_.begin(), running_.end(), decodes)) {
    RETURN_IF_ERROR(CheckNoneEnded());
    Plan();
    RETURN_IF_ERROR(Step());
  }
  return absl::OkStatus();
}

absl::Status EngineLoop::Decode() {
  RETURN_IF_ERROR(CheckNoneEnded());
  Plan();
  if (!plan_.preempted.empty()) {
    return absl::ResourceExhaustedError("the kv cache is full");
  }
  return Step();
}

int64_t EngineLoop::RunningTokens() const {
  int64_t tokens = 0;
  for (const Entry& entry : running_) {
    tokens +=
        static_cast<int64_t>(entry.sequence->output().choices[0].tokens.size());
  }
  return tokens;
}

void EngineLoop::Stop() {
  running_.clear();
  waiting_.clear();
}

absl::Status EngineLoop::CheckNoneEnded() const {
  for (const Entry& entry : running_) {
    if (entry.sequence->output().finished) {
      return absl::FailedPreconditionError(
          "a sequence has ended: too few tokens, or too small a kv cache");
    }
  }
  return absl::OkStatus();
}

absl::Status EngineLoop::Join(EngineRequest request, size_t index) {
  ASSIGN_OR_RETURN(std::unique_ptr<Sequence> sequence,
                   engine_.NewSequence(std::move(request)));
  waiting_.push_back({.sequence = std::move(sequence),
                      .index = index,
                      .arrival = absl::Now()});
  return absl::OkStatus();
}

void EngineLoop::Plan() {
  const absl::Time now = absl::Now();
  const auto views = [&](const std::vector<Entry>& entries) {
    std::vector<RequestView> result;
    for (const Entry& entry : entries) {
      result.push_back({.order = static_cast<int64_t>(entry.index),
                        .priority = 0,
                        .arrival = entry.arrival,
                        .work = entry.sequence->Next(),
                        .blocks_when_preempted = entry.blocks_when_preempted,
                        .held_blocks = entry.sequence->blocks(),
                        .last_piece = entry.last_piece});
    }
    return result;
  };
  const Decision& decision =
      batcher_.Plan(views(waiting_), views(running_),
                    {.free_blocks = context_->free_blocks(),
                     .free_encode_rows = context_->free_encode_rows()},
                    cost_, now);
  plan_.pieces.clear();
  plan_.preempted.clear();
  rows_ = {.decode = decision.decode_rows, .encode = decision.prompt_rows};
  for (const auto [index, rows] : decision.running) {
    AddPiece(running_[index], rows);
  }
  for (const int index : decision.preempted) {
    Entry& entry = running_[index];
    plan_.preempted.push_back(entry.sequence.get());
    entry.blocks_when_preempted =
        std::min(entry.sequence->blocks() + entry.sequence->Next().blocks,
                 entry.sequence->max_blocks());
    waiting_.push_back(std::move(entry));
  }
  for (const auto [index, rows] : decision.admitted) {
    AddPiece(waiting_[index], rows);
    running_.push_back(std::move(waiting_[index]));
  }
  const auto moved = [](const Entry& entry) { return !entry.sequence; };
  std::erase_if(running_, moved);
  std::erase_if(waiting_, moved);
}

void EngineLoop::AddPiece(Entry& entry, int rows) {
  plan_.pieces.push_back({.sequence = entry.sequence.get(), .rows = rows});
  entry.last_piece = ++pieces_;
}

absl::Status EngineLoop::Step() {
  const absl::Time start = absl::Now();
  RETURN_IF_ERROR(context_->Step(plan_));
  cost_.Observe(rows_.decode, rows_.encode, absl::Now() - start);
  return absl::OkStatus();
}

void EngineLoop::Collect(std::vector<SequenceOutput>& outputs) {
  for (Entry& entry : running_) {
    if (!entry.sequence->output().finished) continue;
    outputs[entry.index] = entry.sequence->output();
    entry.sequence.reset();
  }
  std::erase_if(running_, [](const Entry& entry) { return !entry.sequence; });
}

}  // namespace attend
