#include "server/observability/metrics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "server/observability/open_metrics.h"

namespace attend {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

ModelInfo Model() {
  ModelInfo model;
  model.name = "m";
  model.family = "marian";
  model.dtype = "f32";
  return model;
}

std::shared_ptr<ModelMetrics> AddModel(Metrics& metrics,
                                       const ModelInfo& info) {
  auto model = metrics.AddModel(info.name);
  model->Serve(info, 1);
  return model;
}

const std::vector<std::string> kMethods = {"Generate", "Score"};

// The value of the series that is called exactly `series`.
double Value(const std::string& text, absl::string_view series) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    double value = 0;
    if (absl::ConsumePrefix(&line, absl::StrCat(series, " ")) &&
        absl::SimpleAtod(line, &value)) {
      return value;
    }
  }
  ADD_FAILURE() << "no series " << series;
  return -1;
}

int CountSeries(const std::string& text) {
  int count = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!line.empty() && line[0] != '#') ++count;
  }
  return count;
}

TEST(MetricsTest, TheEndOfTheCertificateIsInSecondsOfUnix) {
  Metrics metrics("1.2.3", kMethods);
  for (const int64_t seconds : {2000000000, 1999999999}) {
    metrics.SetCertificateEnd(absl::FromUnixSeconds(seconds));
    EXPECT_EQ(Value(metrics.Serialize(),
                    "attend_tls_certificate_expiry_timestamp_seconds"),
              seconds);
  }
}

TEST(MetricsTest, FromTheStartThereAreGaugesAndPlainTotals) {
  Metrics metrics("1.2.3", kMethods);
  const auto model = AddModel(metrics, Model());
  const std::string text = metrics.Serialize();
  for (const char* name :
       {"attend_source_tokens_total", "attend_generated_tokens_total",
        "attend_preemptions_total", "attend_slow_readers_total",
        "attend_prefix_cache_queried_tokens_total",
        "attend_prefix_cache_hit_tokens_total", "attend_draft_tokens_total",
        "attend_accepted_draft_tokens_total", "attend_model_draft_tokens_total",
        "attend_accepted_model_draft_tokens_total", "attend_queued_requests",
        "attend_queued_tokens", "attend_running_sequences",
        "attend_kv_blocks_used", "attend_kv_blocks_capacity",
        "attend_kv_use_ratio"}) {
    EXPECT_EQ(Value(text, absl::StrCat(name, "{model=\"m\"}")), 0);
  }
  EXPECT_EQ(Value(text,
                  "attend_model_info{dtype=\"f32\",family=\"marian\",model="
                  "\"m\",version=\"1\"}"),
            1);
  EXPECT_THAT(text, HasSubstr("version=\"1.2.3\""));
  // Of what did not occur nothing is told.
  EXPECT_LT(CountSeries(text), 30);
  for (const char* name : {"attend_requests_total", "_bucket", "rejected"}) {
    EXPECT_EQ(text.find(name), std::string::npos) << name;
  }
}

// So a rate includes the first error, if a scrape was between.
TEST(MetricsTest, WhatAlertsNeedComesWithTheFirstCallOfAMethod) {
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  model->OnCall("Score", absl::StatusCode::kOk, absl::Seconds(2));
  const std::string text = metrics.Serialize();
  for (const auto& [code, value] : std::vector<std::pair<const char*, double>>{
           {"OK", 1}, {"INTERNAL", 0}, {"DEADLINE_EXCEEDED", 0}}) {
    EXPECT_EQ(Value(text, absl::StrCat("attend_requests_total{code=\"", code,
                                       "\",method=\"Score\",model=\"m\"}")),
              value);
  }
  EXPECT_EQ(text.find("NOT_FOUND"), std::string::npos);
  EXPECT_EQ(text.find("Generate"), std::string::npos);
}

TEST(MetricsTest, FirstUsesOnManyThreadsMakeOneSeries) {
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([model] {
      for (int i = 0; i < 1000; ++i) {
        model->OnInterToken(absl::Milliseconds(1));
        model->OnRejected(RejectReason::kInvalid);
      }
    });
  }
  for (int i = 0; i < 20; ++i) metrics.Serialize();
  for (std::thread& thread : threads) thread.join();
  const std::string text = metrics.Serialize();
  EXPECT_EQ(Value(text, "attend_inter_token_seconds_count{model=\"m\"}"), 8000);
  EXPECT_EQ(
      Value(text, "attend_rejected_total{model=\"m\",reason=\"invalid\"}"),
      8000);
}

TEST(MetricsTest, ACallCountsByMethodAndCode) {
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  model->OnCall("Generate", absl::StatusCode::kOk, absl::Seconds(2));
  model->OnCall("Generate", absl::StatusCode::kNotFound, absl::Seconds(3));
  const std::string text = metrics.Serialize();
  EXPECT_EQ(Value(text,
                  "attend_requests_total{code=\"OK\",method=\"Generate\",model="
                  "\"m\"}"),
            1);
  EXPECT_EQ(
      Value(text,
            "attend_requests_total{code=\"NOT_FOUND\",method=\"Generate\","
            "model=\"m\"}"),
      1);
  EXPECT_EQ(Value(text,
                  "attend_request_seconds_sum{method=\"Generate\",model="
                  "\"m\"}"),
            5);
}

TEST(MetricsTest, ARequestThatDidNotGetFarCountsOnlyAsFar) {
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  RequestTimes times;
  times.arrival = absl::FromUnixSeconds(100);
  times.started = absl::FromUnixSeconds(101);
  model->OnRequest(times, 7, 0);
  times.encoded = absl::FromUnixSeconds(103);
  times.first_token = absl::FromUnixSeconds(104);
  model->OnRequest(times, 5, 11);
  const std::string text = metrics.Serialize();
  EXPECT_EQ(Value(text, "attend_queue_seconds_count{model=\"m\"}"), 2);
  EXPECT_EQ(Value(text, "attend_encode_seconds_sum{model=\"m\"}"), 2);
  EXPECT_EQ(Value(text, "attend_encode_seconds_count{model=\"m\"}"), 1);
  EXPECT_EQ(Value(text, "attend_time_to_first_token_seconds_sum{model=\"m\"}"),
            4);
  EXPECT_EQ(Value(text, "attend_source_tokens_total{model=\"m\"}"), 12);
  EXPECT_EQ(Value(text, "attend_generated_tokens_total{model=\"m\"}"), 11);
}

TEST(MetricsTest, AStepSetsGauges) {
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  model->OnStep({.rows = 64,
                 .preempted = 2,
                 .queried_tokens = 50,
                 .hit_tokens = 32,
                 .draft_tokens = 12,
                 .accepted_draft_tokens = 9,
                 .model_draft_tokens = 7,
                 .accepted_model_draft_tokens = 5,
                 .duration = absl::Milliseconds(5),
                 .queued_requests = 3,
                 .queued_tokens = 30,
                 .running = 8,
                 .used_blocks = 10,
                 .total_blocks = 100});
  model->OnSlowReader();
  model->OnInterToken(absl::Milliseconds(4));
  model->OnRejected(RejectReason::kDraining);
  const std::string text = metrics.Serialize();
  EXPECT_EQ(Value(text, "attend_step_rows_sum{model=\"m\"}"), 64);
  EXPECT_EQ(Value(text, "attend_step_rows_bucket{model=\"m\",le=\"64\"}"), 1);
  EXPECT_EQ(Value(text, "attend_step_rows_bucket{model=\"m\",le=\"32\"}"), 0);
  EXPECT_EQ(Value(text, "attend_preemptions_total{model=\"m\"}"), 2);
  EXPECT_EQ(
      Value(text, "attend_prefix_cache_queried_tokens_total{model=\"m\"}"), 50);
  EXPECT_EQ(Value(text, "attend_prefix_cache_hit_tokens_total{model=\"m\"}"),
            32);
  EXPECT_EQ(Value(text, "attend_draft_tokens_total{model=\"m\"}"), 12);
  EXPECT_EQ(Value(text, "attend_accepted_draft_tokens_total{model=\"m\"}"), 9);
  EXPECT_EQ(Value(text, "attend_model_draft_tokens_total{model=\"m\"}"), 7);
  EXPECT_EQ(
      Value(text, "attend_accepted_model_draft_tokens_total{model=\"m\"}"), 5);
  EXPECT_EQ(Value(text, "attend_queued_requests{model=\"m\"}"), 3);
  EXPECT_EQ(Value(text, "attend_queued_tokens{model=\"m\"}"), 30);
  EXPECT_EQ(Value(text, "attend_running_sequences{model=\"m\"}"), 8);
  EXPECT_EQ(Value(text, "attend_kv_blocks_used{model=\"m\"}"), 10);
  EXPECT_EQ(Value(text, "attend_kv_blocks_capacity{model=\"m\"}"), 100);
  EXPECT_EQ(Value(text, "attend_kv_use_ratio{model=\"m\"}"), 0.1);
  EXPECT_EQ(Value(text, "attend_slow_readers_total{model=\"m\"}"), 1);
  EXPECT_EQ(Value(text, "attend_inter_token_seconds_count{model=\"m\"}"), 1);
  EXPECT_EQ(
      Value(text, "attend_rejected_total{model=\"m\",reason=\"draining\"}"), 1);
}

TEST(MetricsTest, ModelsAreCountedApart) {
  Metrics metrics("1", kMethods);
  ModelInfo second = Model();
  second.name = "n";
  const auto first = AddModel(metrics, Model());
  first->OnRejected(RejectReason::kInvalid);
  const auto model = AddModel(metrics, second);
  model->OnStep({.rows = 3, .duration = {}, .running = 2});
  const auto broken = metrics.AddModel("b");
  broken->Break();
  broken->OnCall("Score", absl::StatusCode::kUnavailable, absl::Seconds(1));
  metrics.other_calls().OnRejected(RejectReason::kTokenizerFull);
  const std::string text = metrics.Serialize();
  for (const auto& [series, value] :
       std::vector<std::pair<const char*, double>>{
           {"attend_running_sequences{model=\"m\"}", 0},
           {"attend_running_sequences{model=\"n\"}", 2},
           {"attend_rejected_total{model=\"m\",reason=\"invalid\"}", 1},
           {"attend_rejected_total{model=\"\",reason=\"tokenizer_full\"}", 1},
           {"attend_requests_total{code=\"UNAVAILABLE\",method=\"Score\","
            "model=\"b\"}",
            1},
           {"attend_model_ready{model=\"m\"}", 1},
           {"attend_model_ready{model=\"n\"}", 1},
           {"attend_model_ready{model=\"b\"}", 0}}) {
    EXPECT_EQ(Value(text, series), value) << series;
  }
  EXPECT_EQ(text.find("attend_rejected_total{model=\"n\""), std::string::npos);
  // No gauges of what has no worker.
  EXPECT_EQ(text.find("attend_running_sequences{model=\"b\"}"),
            std::string::npos);
  EXPECT_EQ(text.find("attend_running_sequences{model=\"\"}"),
            std::string::npos);
}

TEST(MetricsTest, LoadsOfAModelGoWithIt) {
  Metrics metrics("1", kMethods);
  auto model = AddModel(metrics, Model());
  metrics.OnLoad("m", true);
  metrics.OnLoad("none", false);
  const std::string served = metrics.Serialize();
  EXPECT_EQ(
      Value(served, "attend_model_loads_total{model=\"m\",outcome=\"ok\"}"), 1);
  EXPECT_EQ(
      Value(served, "attend_model_loads_total{model=\"\",outcome=\"failed\"}"),
      1);
  model.reset();
  EXPECT_THAT(metrics.Serialize(), Not(HasSubstr("\"m\"")));
}

TEST(MetricsTest, GaugesChangeWithoutAStep) {
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  model->OnStep({.rows = 1, .duration = {}, .running = 8, .used_blocks = 10});
  model->OnStep({.rows = 0, .duration = {}, .running = 0, .used_blocks = 0});
  const std::string text = metrics.Serialize();
  EXPECT_EQ(Value(text, "attend_running_sequences{model=\"m\"}"), 0);
  EXPECT_EQ(Value(text, "attend_kv_blocks_used{model=\"m\"}"), 0);
  EXPECT_EQ(Value(text, "attend_step_seconds_count{model=\"m\"}"), 1);
  EXPECT_EQ(Value(text, "attend_step_rows_count{model=\"m\"}"), 1);
}

TEST(MetricsTest, TellsOfTheProcess) {
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  const std::string text = metrics.Serialize();
  EXPECT_GT(Value(text, "process_resident_memory_bytes"), 1 << 20);
  EXPECT_GE(Value(text, "process_cpu_seconds_total"), 0);
  EXPECT_GT(Value(text, "process_open_fds"), 2);
  EXPECT_GE(Value(text, "process_max_fds"), Value(text, "process_open_fds"));
  EXPECT_NEAR(Value(text, "process_start_time_seconds"),
              absl::ToUnixSeconds(absl::Now()), 600);
}

TEST(MetricsTest, OpenMetricsHasTheTracesOfCalls) {
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  const std::string id(32, 'a');
  model->OnCall("Score", absl::StatusCode::kOk, absl::Milliseconds(1500));
  model->OnCall("Score", absl::StatusCode::kOk, absl::Milliseconds(300), id);
  model->OnCall("Score", absl::StatusCode::kOk, absl::Seconds(100),
                std::string(32, 'b'));
  metrics.other_calls().OnCall("Score", absl::StatusCode::kNotFound,
                               absl::Milliseconds(700));
  const std::string text = metrics.SerializeOpenMetrics();
  const std::string bucket =
      "attend_request_seconds_bucket{method=\"Score\",model=\"m\",le=\"";
  EXPECT_THAT(text, HasSubstr(bucket + "0.25\"} 0\n"));
  EXPECT_THAT(text, ContainsRegex(absl::StrCat(
                        "0\\.5\"} 1 # .trace_id=\"", id, "\". 0\\.3 ",
                        absl::ToUnixSeconds(absl::Now()) / 1000)));
  EXPECT_THAT(text, HasSubstr(bucket + "1.0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "2.5\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "+Inf\"} 3 # {trace_id=\"bbb"));
  EXPECT_THAT(text, HasSubstr("attend_request_seconds_bucket{method=\"Score\","
                              "model=\"\",le=\"1.0\"} 1\n"));
  // The plain page has no place for them.
  EXPECT_EQ(metrics.Serialize().find("trace_id"), std::string::npos);
}

TEST(MetricsTest, OpenMetricsHasItsOwnNamesAndNumbers) {
  using prometheus::MetricType;
  prometheus::MetricFamily counter = {
      "a_total", "One \"a\".", MetricType::Counter, {}};
  counter.metric.resize(1);
  counter.metric[0].counter.value = 3;
  counter.metric[0].label = {{"name", "x\"\\\n"}};
  prometheus::MetricFamily gauge = {"b", "B.", MetricType::Gauge, {}};
  gauge.metric.resize(2);
  gauge.metric[0].gauge.value = 1e-4;
  gauge.metric[1].gauge.value = std::nan("");
  EXPECT_EQ(ToOpenMetrics({counter, gauge}, {}),
            "# TYPE a counter\n# HELP a One \\\"a\\\".\n"
            "a_total{name=\"x\\\"\\\\\\n\"} 3.0\n"
            "# TYPE b gauge\n# HELP b B.\nb 0.0001\nb NaN\n# EOF\n");
}

TEST(MetricsTest, NamesAndUnitsPassPromtool) {
  if (std::system("command -v promtool >/dev/null") != 0) {
    FAIL() << "promtool is missing: deploy/install_dependencies.sh --tests";
  }
  FILE* promtool = popen("promtool check metrics 2>&1", "w");
  Metrics metrics("1", kMethods);
  const auto model = AddModel(metrics, Model());
  const std::shared_ptr<TenantMetrics> tenant = metrics.AddTenant("a");
  tenant->OnRefused(TenantRefusal::kModel);
  tenant->OnCall(absl::StatusCode::kOk);
  const std::string text = metrics.Serialize();
  fwrite(text.data(), 1, text.size(), promtool);
  EXPECT_EQ(pclose(promtool), 0);
}

}  // namespace
}  // namespace attend
