#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <iterator>
#include <map>
#include <sstream>

#include "server/process_metrics.h"

namespace attend {
namespace {

using Labels = std::map<std::string, std::string>;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

constexpr std::array<absl::string_view, kNumMethods> kMethodNames = {
    "Generate",   "GenerateStream", "Score",   "Tokenize",
    "Detokenize", "ListModels",     "GetModel"};
constexpr std::array<absl::string_view, kNumRejectReasons> kReasonNames = {
    "queue_full", "tokenizer_full", "draining", "invalid"};
constexpr int kNumCodes = 17;  // of google.rpc.Code

// Each bound is `factor` times the one before.
Histogram::BucketBoundaries Geometric(double first, double factor, int count) {
  Histogram::BucketBoundaries bounds;
  for (double bound = first; count > 0; --count, bound *= factor) {
    bounds.push_back(bound);
  }
  return bounds;
}

// 0.1 ms to 95 s.
Histogram::BucketBoundaries Durations() { return Geometric(1e-4, 1.5, 35); }

std::string CodeName(int code) {
  const std::string name =
      absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
  return name.empty() ? "UNKNOWN" : name;
}

}  // namespace

absl::string_view MethodName(Method method) {
  return kMethodNames[static_cast<int>(method)];
}

struct Metrics::Impl {
  explicit Impl(std::string name) : model{{"model", std::move(name)}} {}

  Counter& MakeCounter(const char* name, const char* help, Labels extra = {}) {
    return prometheus::BuildCounter()
        .Name(name)
        .Help(help)
        .Register(registry)
        .Add(With(std::move(extra)));
  }
  Gauge& MakeGauge(const char* name, const char* help, Labels extra = {}) {
    return prometheus::BuildGauge()
        .Name(name)
        .Help(help)
        .Register(registry)
        .Add(With(std::move(extra)));
  }
  Histogram& MakeHistogram(const char* name, const char* help,
                           const Histogram::BucketBoundaries& bounds,
                           Labels extra = {}) {
    return prometheus::BuildHistogram()
        .Name(name)
        .Help(help)
        .Register(registry)
        .Add(With(std::move(extra)), bounds);
  }
  Labels With(Labels extra) const {
    extra.insert(model.begin(), model.end());
    return extra;
  }

  const Labels model;
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  ProcessMetrics process;

  std::array<std::array<Counter*, kNumCodes>, kNumMethods> calls;
  std::array<Histogram*, kNumMethods> call_seconds;
  std::array<Counter*, kNumRejectReasons> rejected;

  Histogram& queue_seconds =
      MakeHistogram("attend_queue_seconds",
                    "Time of an input from its arrival in the queue until it "
                    "was first computed.",
                    Durations());
  Histogram& encode_seconds = MakeHistogram(
      "attend_encode_seconds",
      "Time from the first step of an input until its source was encoded.",
      Durations());
  Histogram& first_token_seconds = MakeHistogram(
      "attend_time_to_first_token_seconds",
      "Time of an input from its arrival in the queue to its first output.",
      Durations());
  Histogram& inter_token_seconds = MakeHistogram(
      "attend_inter_token_seconds",
      "Time between two outputs of one running generation.", Durations());
  Histogram& step_seconds = MakeHistogram(
      "attend_step_seconds", "Time of one step of the engine.", Durations());
  Histogram& step_rows = MakeHistogram(
      "attend_step_rows", "Rows computed in one step.", Geometric(1, 2, 14));
  Counter& source_tokens = MakeCounter("attend_source_tokens_total",
                                       "Source tokens of inputs that ended.");
  Counter& generated_tokens =
      MakeCounter("attend_generated_tokens_total",
                  "Tokens generated (or scored), of all results returned.");
  Counter& preemptions = MakeCounter(
      "attend_preemptions_total",
      "Running inputs that gave their memory back, to be replayed later.");
  Counter& slow_readers =
      MakeCounter("attend_slow_readers_total",
                  "Calls cancelled because their client did not read.");
  Gauge& queued_requests =
      MakeGauge("attend_queued_requests", "Inputs that wait.");
  Gauge& queued_tokens = MakeGauge("attend_queued_tokens",
                                   "Source tokens of the inputs that wait.");
  Gauge& running = MakeGauge("attend_running_sequences", "Inputs that run.");
  Gauge& used_blocks =
      MakeGauge("attend_kv_blocks_used", "Blocks of the KV pool in use.");
  Gauge& capacity_blocks =
      MakeGauge("attend_kv_blocks_capacity", "Blocks of the KV pool.");
};

Metrics::Metrics(const ModelInfo& model, absl::string_view version)
    : impl_(std::make_unique<Impl>(model.name)) {
  for (int m = 0; m < kNumMethods; ++m) {
    const Labels method = {{"method", std::string(kMethodNames[m])}};
    for (int code = 0; code < kNumCodes; ++code) {
      Labels labels = method;
      labels["code"] = CodeName(code);
      impl_->calls[m][code] = &impl_->MakeCounter(
          "attend_requests_total", "Calls that ended, by status code.", labels);
    }
    impl_->call_seconds[m] = &impl_->MakeHistogram(
        "attend_request_seconds", "Time of a call from its arrival to its end.",
        Durations(), method);
  }
  for (int r = 0; r < kNumRejectReasons; ++r) {
    impl_->rejected[r] = &impl_->MakeCounter(
        "attend_rejected_total", "Inputs that were turned away.",
        {{"reason", std::string(kReasonNames[r])}});
  }
  impl_
      ->MakeGauge("attend_model_info", "The loaded model; always 1.",
                  {{"family", model.family}, {"dtype", model.dtype}})
      .Set(1);
  prometheus::BuildGauge()
      .Name("attend_build_info")
      .Help("The build of the server; always 1.")
      .Register(impl_->registry)
      .Add({{"version", std::string(version)}, {"compiler", __VERSION__}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::OnCall(Method method, absl::StatusCode code,
                     absl::Duration duration) {
  const int m = static_cast<int>(method);
  impl_->calls[m][static_cast<int>(code)]->Increment();
  impl_->call_seconds[m]->Observe(absl::ToDoubleSeconds(duration));
}

void Metrics::OnRejected(RejectReason reason) {
  impl_->rejected[static_cast<int>(reason)]->Increment();
}

void Metrics::OnRequest(const RequestTimes& times, int source_tokens,
                        int generated_tokens) {
  const auto observe = [](Histogram& histogram, absl::Time from,
                          absl::Time to) {
    if (from == absl::InfinitePast() || to == absl::InfinitePast()) return;
    histogram.Observe(absl::ToDoubleSeconds(to - from));
  };
  observe(impl_->queue_seconds, times.arrival, times.started);
  observe(impl_->encode_seconds, times.started, times.encoded);
  observe(impl_->first_token_seconds, times.arrival, times.first_token);
  impl_->source_tokens.Increment(source_tokens);
  impl_->generated_tokens.Increment(generated_tokens);
}

void Metrics::OnInterToken(absl::Duration gap) {
  impl_->inter_token_seconds.Observe(absl::ToDoubleSeconds(gap));
}

void Metrics::OnStep(const StepReport& report) {
  if (report.rows > 0) {
    impl_->step_seconds.Observe(absl::ToDoubleSeconds(report.duration));
    impl_->step_rows.Observe(report.rows);
  }
  impl_->preemptions.Increment(report.preempted);
  impl_->queued_requests.Set(report.queued_requests);
  impl_->queued_tokens.Set(report.queued_tokens);
  impl_->running.Set(report.running);
  impl_->used_blocks.Set(report.used_blocks);
  impl_->capacity_blocks.Set(report.total_blocks);
}

void Metrics::OnSlowReader() { impl_->slow_readers.Increment(); }

std::string Metrics::Serialize() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  std::vector<prometheus::MetricFamily> process = impl_->process.Collect();
  families.insert(families.end(), std::make_move_iterator(process.begin()),
                  std::make_move_iterator(process.end()));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace attend
