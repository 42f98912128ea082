// The figures of `attend top`, and their picture.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/cpp/top/figures.h"
#include "client/cpp/top/metrics_text.h"
#include "client/cpp/top/screen.h"

namespace attend {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

TEST(ParseMetricsTest, ReadsLabelsEscapesAndInfinity) {
  const Samples samples = ParseMetrics(
      "# HELP a words {not=\"a sample\"} 1\n"
      "a 1.5\n"
      "b{x=\"1\",y=\"a \\\"b\\\\\\n}\"} 2 1700000000\n"
      "b{le=\"+Inf\"} +Inf\n"
      "b{open=\"1} 3\n"
      "nonsense\n"
      "c{} x\n"
      "\n");
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples.at("a").at(0).value, 1.5);
  ASSERT_THAT(samples.at("b"), SizeIs(2));
  EXPECT_EQ(samples.at("b")[0].labels.at("y"), "a \"b\\\n}");
  EXPECT_EQ(samples.at("b")[0].value, 2);
  EXPECT_EQ(samples.at("b")[1].labels.at("le"), "+Inf");
}

// Counts of a histogram below 0.1, 0.2 and without bound.
std::string Histogram(int below_1, int below_2, int all) {
  const char* name = "attend_time_to_first_token_seconds_bucket";
  return absl::StrCat(name, "{model=\"m\",le=\"0.1\"} ", below_1, "\n", name,
                      "{model=\"m\",le=\"0.2\"} ", below_2, "\n", name,
                      "{model=\"m\",le=\"+Inf\"} ", all, "\n");
}

TEST(QuantileTest, IsThatOfTheTimeBetweenTwoReadings) {
  const auto quantile = [](const std::string& before, const std::string& now,
                           double share) {
    return Quantile(ParseMetrics(before), ParseMetrics(now),
                    "attend_time_to_first_token_seconds", "m", share);
  };
  // 10 more below 0.1 and 10 more between 0.1 and 0.2.
  const std::string before = Histogram(100, 100, 100);
  const std::string now = Histogram(110, 120, 120);
  EXPECT_THAT(quantile(before, now, 0.25), Optional(DoubleNear(0.05, 1e-9)));
  EXPECT_THAT(quantile(before, now, 0.5), Optional(DoubleNear(0.1, 1e-9)));
  EXPECT_THAT(quantile(before, now, 0.75), Optional(DoubleNear(0.15, 1e-9)));
  // Beyond the last bound nothing is known but that bound.
  EXPECT_THAT(quantile(before, Histogram(100, 100, 120), 0.5),
              Optional(DoubleNear(0.2, 1e-9)));
  EXPECT_EQ(quantile(now, now, 0.5), std::nullopt);
  EXPECT_EQ(quantile("", "", 0.5), std::nullopt);
  // The server was started anew: all that it counted is new.
  EXPECT_THAT(quantile(before, Histogram(10, 20, 20), 0.25),
              Optional(DoubleNear(0.05, 1e-9)));
}

std::string Reading(int generated, int kv_used) {
  return absl::StrCat(
      "attend_build_info{version=\"1.2\"} 1\n"
      "attend_model_ready{model=\"m\"} 1\n"
      "attend_model_ready{model=\"x\\n\"} 0\n"
      "attend_model_info{dtype=\"int8\",family=\"llama\",model=\"m\"} 1\n"
      "attend_requests_total{model=\"m\",code=\"OK\"} ",
      generated / 10,
      "\nattend_requests_total{model=\"m\",code=\"INTERNAL\"} 2\n"
      "attend_generated_tokens_total{model=\"m\"} ",
      generated,
      "\nattend_queued_requests{model=\"m\"} 7\n"
      "attend_running_sequences{model=\"m\"} 3\n"
      "attend_kv_blocks_capacity{model=\"m\"} 200\n"
      "attend_kv_blocks_used{model=\"m\"} ",
      kv_used,
      "\nprocess_cpu_seconds_total 4\n"
      "process_resident_memory_bytes 5e8\n"
      "attend_grpc_connections 9\n");
}

ServerFigures Figures() {
  return FiguresBetween(ParseMetrics(Reading(100, 0)),
                        ParseMetrics(Reading(400, 50)), absl::Seconds(2));
}

TEST(FiguresTest, AreRatesAndSharesOfEachModel) {
  const ServerFigures figures = Figures();
  EXPECT_EQ(figures.version, "1.2");
  EXPECT_EQ(figures.resident_bytes, 5e8);
  EXPECT_EQ(figures.connections, 9);
  ASSERT_THAT(figures.models, SizeIs(2));
  const ModelFigures& model = figures.models[0];
  EXPECT_EQ(model.name, "m");
  EXPECT_EQ(model.family, "llama");
  EXPECT_TRUE(model.ready);
  EXPECT_EQ(model.generated, 150);
  EXPECT_EQ(model.calls, 15);
  EXPECT_EQ(model.queued, 7);
  EXPECT_EQ(model.running, 3);
  EXPECT_EQ(model.kv_used, 0.25);
  EXPECT_FALSE(figures.models[1].ready);
}

TEST(ScreenTest, ShowsModelsAndCurvesWithinTheTerminal) {
  const ServerFigures figures = Figures();
  Screen screen;
  ServerFigures half = figures;
  half.models[0].generated /= 2;
  screen.Add(half);
  screen.Add(figures);
  const std::string picture =
      screen.Draw(figures, {.columns = 100, .rows = 24});
  const std::vector<std::string> lines = absl::StrSplit(picture, '\n');
  EXPECT_THAT(lines[0], HasSubstr("attend 1.2   CPUs 0.00   memory 500 MB"));
  EXPECT_THAT(lines[3], testing::ContainsRegex(
                            "^m +yes +15.0 +3 +7 +150 +0 +25.0% +- +-$"));
  // A name cannot steer the terminal.
  EXPECT_THAT(lines[4], testing::StartsWith("x? "));
  EXPECT_THAT(lines[6], EndsWith("▄█"));
  EXPECT_THAT(lines[6], HasSubstr("generated       150 "));
  EXPECT_THAT(lines[9], EndsWith("▂▂"));  // a quarter of the blocks

  // 20 columns and 4 rows.
  const std::string small = screen.Draw(figures, {.columns = 20, .rows = 4});
  const std::vector<std::string> few = absl::StrSplit(small, '\n');
  EXPECT_THAT(few, SizeIs(5));  // and what follows the last newline: nothing
  for (const std::string& line : few) EXPECT_LE(line.size(), 20u) << line;
}

}  // namespace
}  // namespace attend
