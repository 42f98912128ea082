#include "engine/runtime/routed_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The whole of a context's encode buffer, in the units in which rows of all
// buffers are counted. Larger than any buffer, so that little is lost where a
// row is a whole number of units.
constexpr int kEncodeUnits = 1 << 24;

// The units of a row of an engine's encode buffer: such that as many rows as
// are kEncodeUnits fit into the buffer.
int UnitsOfRow(const Engine& engine) {
  const int rows =
      engine.info().max_source_tokens + engine.info().max_step_rows;
  return (kEncodeUnits + rows - 1) / rows;
}

int Units(int64_t rows, int units_of_row) {
  return static_cast<int>(std::min<int64_t>(rows * units_of_row, kEncodeUnits));
}

// A sequence of one of the engines.
class RoutedSequence final : public Sequence {
 public:
  RoutedSequence(std::unique_ptr<Sequence> own, int engine, int units_of_row)
      : own_(std::move(own)), engine_(engine), units_of_row_(units_of_row) {}

  Work Next() const override {
    Work work = own_->Next();
    work.encode_rows = Units(work.encode_rows, units_of_row_);
    return work;
  }
  const SequenceOutput& output() const override { return own_->output(); }
  absl::Status status() const override { return own_->status(); }
  int max_blocks() const override { return own_->max_blocks(); }
  int blocks() const override { return own_->blocks(); }

  Sequence* own() const { return own_.get(); }
  int engine() const { return engine_; }

 private:
  const std::unique_ptr<Sequence> own_;
  const int engine_;
  const int units_of_row_;
};

const RoutedSequence& Own(const Sequence* sequence) {
  const auto* const own = dynamic_cast<const RoutedSequence*>(sequence);
  ATTEND_CHECK(own != nullptr);
  return *own;
}

// A context of one of the engines.
struct OwnContext {
  std::unique_ptr<EngineContext> context;
  int units_of_row = 1;
};

// The contexts of all engines. What any sequence holds counts as held of the
// memory of each engine: so whatever is preempted makes room for any other, and
// what is free is free in each context. Lists are reserved at construction.
class RoutedContext final : public EngineContext {
 public:
  RoutedContext(std::vector<OwnContext> contexts, int max_step_rows)
      : contexts_(std::move(contexts)),
        total_blocks_(SmallestPool(contexts_)),
        plans_(contexts_.size()) {
    for (StepPlan& plan : plans_) {
      plan.pieces.reserve(max_step_rows);
      plan.preempted.reserve(max_step_rows);
    }
    engines_.reserve(max_step_rows);
    spared_.reserve(max_step_rows);
  }

  absl::Status Step(const StepPlan& plan) override {
    Divide(plan);
    for (size_t i = 0; i < contexts_.size(); ++i) {
      if (plans_[i].pieces.empty() && plans_[i].preempted.empty()) continue;
      RETURN_IF_ERROR(contexts_[i].context->Step(plans_[i]));
    }
    TakeSpared();
    return absl::OkStatus();
  }

  int total_blocks() const override { return total_blocks_; }
  int free_blocks() const override {
    int64_t free = total_blocks_;
    for (const OwnContext& own : contexts_) {
      free -= own.context->total_blocks() - own.context->free_blocks();
    }
    return static_cast<int>(std::max<int64_t>(free, 0));
  }
  int total_encode_rows() const override { return kEncodeUnits; }
  int free_encode_rows() const override {
    int64_t free = kEncodeUnits;
    for (const OwnContext& own : contexts_) {
      free -= Units(
          own.context->total_encode_rows() - own.context->free_encode_rows(),
          own.units_of_row);
    }
    return static_cast<int>(std::max<int64_t>(free, 0));
  }
  StepCounts counts() const override {
    StepCounts sum;
    for (const OwnContext& own : contexts_) {
      const StepCounts counts = own.context->counts();
      sum.spared_rows += counts.spared_rows;
      sum.queried_tokens += counts.queried_tokens;
      sum.hit_tokens += counts.hit_tokens;
    }
    return sum;
  }
  absl::Span<const int> spared() const override { return spared_; }

 private:
  // The blocks of the smallest KV pool; 0: no engine has one.
  static int SmallestPool(const std::vector<OwnContext>& contexts) {
    int smallest = 0;
    for (const OwnContext& own : contexts) {
      const int blocks = own.context->total_blocks();
      if (blocks == 0) continue;
      smallest = smallest == 0 ? blocks : std::min(smallest, blocks);
    }
    return smallest;
  }

  // Makes a plan for each engine.
  void Divide(const StepPlan& plan) {
    for (StepPlan& own : plans_) {
      own.preempted.clear();
      own.pieces.clear();
    }
    engines_.clear();
    for (const Sequence* preempted : plan.preempted) {
      const RoutedSequence& sequence = Own(preempted);
      plans_[sequence.engine()].preempted.push_back(sequence.own());
    }
    for (const Piece& piece : plan.pieces) {
      const RoutedSequence& sequence = Own(piece.sequence);
      plans_[sequence.engine()].pieces.push_back({sequence.own(), piece.rows});
      engines_.push_back(sequence.engine());
    }
  }

  // Puts the rows that each engine did not compute into the plan's order.
  void TakeSpared() {
    spared_.assign(engines_.size(), 0);
    for (size_t i = 0; i < contexts_.size(); ++i) {
      size_t next = 0;
      for (size_t piece = 0; piece < engines_.size(); ++piece) {
        if (engines_[piece] != static_cast<int>(i)) continue;
        spared_[piece] = contexts_[i].context->spared()[next++];
      }
    }
  }

  const std::vector<OwnContext> contexts_;
  const int total_blocks_;
  std::vector<StepPlan> plans_;
  std::vector<int> engines_;  // of the pieces of the last step
  std::vector<int> spared_;
};

}  // namespace

RoutedEngine::RoutedEngine(std::vector<std::unique_ptr<Engine>> engines)
    : engines_(std::move(engines)), info_(engines_.front()->info()) {
  std::vector<ModelInfo> routes;
  for (size_t i = 0; i < engines_.size(); ++i) {
    const ModelInfo& info = engines_[i]->info();
    const int own = std::max<int>(static_cast<int>(info.routes.size()), 1);
    for (int route = 0; route < own; ++route) {
      routes.push_back(info.routes.empty() ? info : info.routes[route]);
      routes_.push_back({static_cast<int>(i), route});
    }
  }
  info_.routes = std::move(routes);
}

std::unique_ptr<EngineContext> RoutedEngine::NewContext() const {
  std::vector<OwnContext> contexts;
  contexts.reserve(engines_.size());
  for (const auto& engine : engines_) {
    contexts.push_back({engine->NewContext(), UnitsOfRow(*engine)});
  }
  return std::make_unique<RoutedContext>(std::move(contexts),
                                         info_.max_step_rows);
}

absl::StatusOr<std::unique_ptr<Sequence>> RoutedEngine::NewSequence(
    EngineRequest request) const {
  int engine = 0;
  if (auto* const task = std::get_if<EmbedTask>(&request.task)) {
    const int routes = static_cast<int>(routes_.size());
    if (task->route < 0 || task->route >= routes) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "route is %d, must be in [0, %d)", task->route, routes));
    }
    engine = routes_[task->route].engine;
    task->route = routes_[task->route].route;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Sequence> own,
                   engines_[engine]->NewSequence(std::move(request)));
  return std::make_unique<RoutedSequence>(std::move(own), engine,
                                          UnitsOfRow(*engines_[engine]));
}

}  // namespace attend
