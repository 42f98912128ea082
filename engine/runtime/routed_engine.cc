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

// The rows that a context's encode buffer has at least.
int64_t RowsOf(const Engine& engine) {
  return int64_t{engine.info().max_source_tokens} + engine.info().max_step_rows;
}

// A sequence of one of the engines. Rows of the encode buffer are counted as
// rows of the smallest buffer: a whole buffer of any engine is as much.
class RoutedSequence final : public Sequence {
 public:
  // A row of the engine's buffer is `part` / `whole` of a row.
  RoutedSequence(std::unique_ptr<Sequence> own, int engine, int64_t part,
                 int64_t whole)
      : own_(std::move(own)), engine_(engine), part_(part), whole_(whole) {}

  Work Next() const override {
    Work work = own_->Next();
    work.encode_rows =
        static_cast<int>((work.encode_rows * part_ + whole_ - 1) / whole_);
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
  const int64_t part_;
  const int64_t whole_;
};

const RoutedSequence& Own(const Sequence* sequence) {
  const auto* const own = dynamic_cast<const RoutedSequence*>(sequence);
  ATTEND_CHECK(own != nullptr);
  return *own;
}

// The contexts of all engines. Lists are reserved at construction.
class RoutedContext final : public EngineContext {
 public:
  // `rows`: of each context's encode buffer.
  RoutedContext(std::vector<std::unique_ptr<EngineContext>> contexts,
                std::vector<int64_t> rows, int max_step_rows)
      : contexts_(std::move(contexts)),
        rows_(std::move(rows)),
        least_(*std::min_element(rows_.begin(), rows_.end())),
        plans_(contexts_.size()) {
    for (StepPlan& plan : plans_) plan.pieces.reserve(max_step_rows);
    spared_.reserve(max_step_rows);
  }

  absl::Status Step(const StepPlan& plan) override {
    for (StepPlan& own : plans_) own.pieces.clear();
    for (const Piece& piece : plan.pieces) {
      const RoutedSequence& sequence = Own(piece.sequence);
      plans_[sequence.engine()].pieces.push_back({sequence.own(), piece.rows});
    }
    for (size_t i = 0; i < contexts_.size(); ++i) {
      if (plans_[i].pieces.empty()) continue;
      RETURN_IF_ERROR(contexts_[i]->Step(plans_[i]));
    }
    // No encode is spared: there are no blocks.
    spared_.assign(plan.pieces.size(), 0);
    return absl::OkStatus();
  }

  int total_blocks() const override { return 0; }
  int free_blocks() const override { return 0; }
  int total_encode_rows() const override { return static_cast<int>(least_); }
  // Any sequence may take what the fullest buffer has.
  int free_encode_rows() const override {
    int64_t free = least_;
    for (size_t i = 0; i < contexts_.size(); ++i) {
      free =
          std::min(free, contexts_[i]->free_encode_rows() * least_ / rows_[i]);
    }
    return static_cast<int>(free);
  }
  StepCounts counts() const override { return {}; }
  absl::Span<const int> spared() const override { return spared_; }

 private:
  const std::vector<std::unique_ptr<EngineContext>> contexts_;
  const std::vector<int64_t> rows_;
  const int64_t least_;
  std::vector<StepPlan> plans_;
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
  least_rows_ = RowsOf(*engines_.front());
  for (const auto& engine : engines_) {
    least_rows_ = std::min(least_rows_, RowsOf(*engine));
  }
}

std::unique_ptr<EngineContext> RoutedEngine::NewContext() const {
  std::vector<std::unique_ptr<EngineContext>> contexts;
  std::vector<int64_t> rows;
  for (const auto& engine : engines_) {
    contexts.push_back(engine->NewContext());
    rows.push_back(RowsOf(*engine));
  }
  return std::make_unique<RoutedContext>(std::move(contexts), std::move(rows),
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
  return std::make_unique<RoutedSequence>(std::move(own), engine, least_rows_,
                                          RowsOf(*engines_[engine]));
}

}  // namespace attend
