#include "server/observability/model_metrics.h"

#include <algorithm>

#include "server/observability/metric_series.h"

namespace attend {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

}  // namespace

struct ModelMetrics::Series {
  explicit Series(const SeriesMaker& make);

  LateSeries<Histogram> queue_seconds;
  LateSeries<Histogram> encode_seconds;
  LateSeries<Histogram> first_token_seconds;
  LateSeries<Histogram> inter_token_seconds;
  LateSeries<Histogram> step_seconds;
  LateSeries<Histogram> step_rows;
  Counter& source_tokens;
  Counter& generated_tokens;
  Counter& preemptions;
  Counter& prefix_cache_queried_tokens;
  Counter& prefix_cache_hit_tokens;
  Counter& draft_tokens;
  Counter& accepted_draft_tokens;
  Counter& model_draft_tokens;
  Counter& accepted_model_draft_tokens;
  Gauge& queued_requests;
  Gauge& queued_tokens;
  Gauge& running;
  Gauge& used_blocks;
  Gauge& capacity_blocks;
  Gauge& kv_use;
};

ModelMetrics::Series::Series(const SeriesMaker& make)
    : queue_seconds(make.LateHistogram(
          "attend_queue_seconds",
          "Time of an input from its arrival in the queue until it was first "
          "computed.",
          DurationBounds())),
      encode_seconds(make.LateHistogram(
          "attend_encode_seconds",
          "Time from the first step of an input until its source was encoded.",
          DurationBounds())),
      first_token_seconds(make.LateHistogram(
          "attend_time_to_first_token_seconds",
          "Time of an input from its arrival in the queue to its first output.",
          DurationBounds())),
      inter_token_seconds(make.LateHistogram(
          "attend_inter_token_seconds",
          "Time between two outputs of one running generation.",
          DurationBounds())),
      step_seconds(make.LateHistogram("attend_step_seconds",
                                      "Time of one step of the engine.",
                                      DurationBounds())),
      step_rows(make.LateHistogram("attend_step_rows",
                                   "Rows computed in one step.",
                                   GeometricBounds(1, 2, 14))),
      source_tokens(make.NewCounter("attend_source_tokens_total",
                                    "Source tokens of inputs that ended.")),
      generated_tokens(make.NewCounter(
          "attend_generated_tokens_total",
          "Tokens generated (or scored), of all results returned.")),
      preemptions(make.NewCounter(
          "attend_preemptions_total",
          "Running inputs that gave their memory back, to be replayed later.")),
      prefix_cache_queried_tokens(make.NewCounter(
          "attend_prefix_cache_queried_tokens_total",
          "Tokens of prompts and encoded sources that were looked for in the "
          "prefix cache.")),
      prefix_cache_hit_tokens(
          make.NewCounter("attend_prefix_cache_hit_tokens_total",
                          "Queried tokens that were in the prefix cache: they "
                          "are not computed.")),
      draft_tokens(make.NewCounter(
          "attend_draft_tokens_total",
          "Tokens that were drafted (see --prompt-lookup and --draft) and "
          "computed.")),
      accepted_draft_tokens(make.NewCounter(
          "attend_accepted_draft_tokens_total",
          "Drafted tokens that were generated: each spares its input a step.")),
      model_draft_tokens(make.NewCounter(
          "attend_model_draft_tokens_total",
          "Of the drafted tokens, those by a draft model (see --draft).")),
      accepted_model_draft_tokens(make.NewCounter(
          "attend_accepted_model_draft_tokens_total",
          "Tokens drafted by a draft model that were generated.")),
      queued_requests(
          make.NewGauge("attend_queued_requests", "Inputs that wait.")),
      queued_tokens(make.NewGauge("attend_queued_tokens",
                                  "Source tokens of the inputs that wait.")),
      running(make.NewGauge("attend_running_sequences", "Inputs that run.")),
      used_blocks(make.NewGauge("attend_kv_blocks_used",
                                "Blocks of the KV pool in use.")),
      capacity_blocks(
          make.NewGauge("attend_kv_blocks_capacity", "Blocks of the KV pool.")),
      // For what cannot divide: autoscalers, pickers of an InferencePool.
      kv_use(make.NewGauge("attend_kv_use_ratio",
                           "Share of the KV pool in use, 0 to 1.")) {}

ModelMetrics::ModelMetrics(const std::string& name,
                           const std::vector<std::string>& methods)
    : CallMetrics(registry, name, methods),
      name_(name),
      readiness_(prometheus::BuildGauge()
                     .Name("attend_model_ready")
                     .Help("1: the model takes requests; 0: it could not be "
                           "loaded, or its last steps failed.")
                     .Register(registry)),
      infos_(prometheus::BuildGauge()
                 .Name("attend_model_info")
                 .Help("A loaded model; always 1.")
                 .Register(registry)) {}

void ModelMetrics::Serve(const ModelInfo& model, int64_t version) {
  if (series_ == nullptr) {
    series_ =
        std::make_unique<Series>(SeriesMaker(registry, {{"model", name_}}));
  }
  MutexLock lock(mutex_);
  RemoveGauges();
  info_ = &infos_.Add({{"model", name_},
                       {"family", model.family},
                       {"dtype", model.dtype},
                       {"version", std::to_string(version)}});
  info_->Set(1);
  ready_ = &readiness_.Add({{"model", name_}});
  ready_->Set(1);
}

void ModelMetrics::Break() {
  MutexLock lock(mutex_);
  RemoveGauges();
  ready_ = &readiness_.Add({{"model", name_}});
}

void ModelMetrics::Withdraw() {
  MutexLock lock(mutex_);
  RemoveGauges();
}

void ModelMetrics::CountLoad(prometheus::Registry& registry,
                             const std::string& model, bool loaded) {
  SeriesMaker(registry, {})
      .NewCounter("attend_model_loads_total",
                  "Loads of models, by how they ended.",
                  {{"model", model}, {"outcome", loaded ? "ok" : "failed"}})
      .Increment();
}

void ModelMetrics::OnAlias(const std::string& alias, int64_t version) {
  MutexLock lock(mutex_);
  if (alias_calls_ == nullptr) {
    alias_calls_ =
        &prometheus::BuildCounter()
             .Name("attend_alias_calls_total")
             .Help("Calls of an alias, by the model and version that got them.")
             .Register(registry);
  }
  AliasCalls& calls = aliases_[alias];
  if (calls.count == nullptr || calls.version != version) {
    if (calls.count != nullptr) alias_calls_->Remove(calls.count);
    calls = {
        .version = version,
        .count = &alias_calls_->Add({{"alias", alias},
                                     {"model", name_},
                                     {"version", std::to_string(version)}})};
  }
  calls.count->Increment();
}

void ModelMetrics::ForgetAlias(const std::string& alias) {
  MutexLock lock(mutex_);
  const auto found = aliases_.find(alias);
  if (found == aliases_.end()) return;
  alias_calls_->Remove(found->second.count);
  aliases_.erase(found);
}

void ModelMetrics::RemoveGauges() {
  if (ready_ != nullptr) readiness_.Remove(ready_);
  if (info_ != nullptr) infos_.Remove(info_);
  ready_ = info_ = nullptr;
}

ModelMetrics::~ModelMetrics() = default;

void ModelMetrics::OnRequest(const RequestTimes& times, int source_tokens,
                             int generated_tokens) {
  const auto observe = [](LateSeries<Histogram>& histogram, absl::Time from,
                          absl::Time to) {
    if (from == absl::InfinitePast() || to == absl::InfinitePast()) return;
    histogram->Observe(absl::ToDoubleSeconds(to - from));
  };
  observe(series_->queue_seconds, times.arrival, times.started);
  observe(series_->encode_seconds, times.started, times.encoded);
  observe(series_->first_token_seconds, times.arrival, times.first_token);
  series_->source_tokens.Increment(source_tokens);
  series_->generated_tokens.Increment(generated_tokens);
}

void ModelMetrics::SetReady(bool ready) {
  MutexLock lock(mutex_);
  if (ready_ != nullptr) ready_->Set(ready ? 1 : 0);
}

std::vector<prometheus::MetricFamily> ModelMetrics::Collect() const {
  return registry.Collect();
}

void ModelMetrics::OnInterToken(absl::Duration gap) {
  series_->inter_token_seconds->Observe(absl::ToDoubleSeconds(gap));
}

void ModelMetrics::OnStep(const StepReport& report) {
  CountStep(report);
  SetLevels(report);
}

void ModelMetrics::CountStep(const StepReport& report) {
  if (report.rows > 0) {
    steps_.fetch_add(1, std::memory_order_relaxed);
    series_->step_seconds->Observe(absl::ToDoubleSeconds(report.duration));
    series_->step_rows->Observe(report.rows);
  }
  series_->preemptions.Increment(report.preempted);
  series_->prefix_cache_queried_tokens.Increment(
      static_cast<double>(report.queried_tokens));
  series_->prefix_cache_hit_tokens.Increment(
      static_cast<double>(report.hit_tokens));
  series_->draft_tokens.Increment(static_cast<double>(report.draft_tokens));
  series_->accepted_draft_tokens.Increment(
      static_cast<double>(report.accepted_draft_tokens));
  series_->model_draft_tokens.Increment(
      static_cast<double>(report.model_draft_tokens));
  series_->accepted_model_draft_tokens.Increment(
      static_cast<double>(report.accepted_model_draft_tokens));
}

void ModelMetrics::SetLevels(const StepReport& report) {
  series_->queued_requests.Set(report.queued_requests);
  series_->queued_tokens.Set(report.queued_tokens);
  series_->running.Set(report.running);
  series_->used_blocks.Set(report.used_blocks);
  series_->capacity_blocks.Set(report.total_blocks);
  series_->kv_use.Set(static_cast<double>(report.used_blocks) /
                      std::max(report.total_blocks, 1));
}

void ModelMetrics::OnInference(bool success, int computed_inputs,
                               const CallParts& call, absl::Time now) {
  MutexLock lock(mutex_);
  totals_.Add(success, computed_inputs, call, now);
}

InferenceTotals ModelMetrics::inference_totals() const {
  MutexLock lock(mutex_);
  InferenceTotals totals = totals_;
  totals.steps = steps_.load(std::memory_order_relaxed);
  return totals;
}

}  // namespace attend
