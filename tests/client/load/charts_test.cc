#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "client/cpp/load/chart.h"
#include "client/cpp/load/percentile_chart.h"
#include "client/cpp/load/statistics.h"
#include "client/cpp/load/time_charts.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ChartTest, TicksReachTheHighest) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-9, 9);
  for (int i = 0; i < 2000; ++i) {
    const double most = std::pow(10, exponent(random));
    const std::vector<ChartTick> ticks = YTicks(most);
    ASSERT_GE(ticks.size(), 2) << most;
    ASSERT_LE(ticks.size(), 6) << most;
    EXPECT_EQ(ticks.front().at, 0);
    EXPECT_GE(ticks.back().at, most);
    EXPECT_LT(ticks[ticks.size() - 2].at, most);  // none too many
  }
  for (const double most :
       {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(YTicks(most).back().label, "1");
  }
}

TEST(ChartTest, PointsLieInTheFrame) {
  const std::string svg =
      ToSvg({.title = "a < b",
             .x_most = 4,
             .curves = {{"one", {{0, 0, ""}, {2, 25, "half"}, {4, 50, ""}}}}});
  // The corners of the frame, and its middle.
  EXPECT_THAT(svg, HasSubstr("points=\"64.0,226.0 382.0,142.0 700.0,58.0\""));
  EXPECT_THAT(svg, HasSubstr("cx=\"382.0\" cy=\"142.0\" r=\"3\" class=\"dot "
                             "c0\"><title>half</title>"));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"a &lt; b\""));
}

TEST(ChartTest, Nothing) {
  const std::string svg = ToSvg({.title = "none", .x_most = 0});
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(PercentileChartTest, AgreesWithQuantiles) {
  std::mt19937 random(7);
  for (const int size : {1, 2, 9, 10, 99, 100, 101, 1000, 2345}) {
    Times times;
    for (int i = 0; i < size; ++i) {
      times.push_back(absl::Milliseconds(random() % 100000));
    }
    const Quantiles quantiles = Summarize(times);
    const Chart chart = PercentileChart("", {{"", times}, {"none", {}}});
    ASSERT_EQ(chart.curves.size(), 1);
    double last_x = -1, last_y = 0;
    for (const ChartPoint& point : chart.curves[0].points) {
      EXPECT_GE(point.x, last_x) << size;
      EXPECT_GE(point.y, last_y) << size;
      last_x = point.x;
      last_y = point.y;
      const std::string name = point.said.substr(0, point.said.find(':'));
      const double expected =
          absl::ToDoubleMilliseconds(name == "p50"   ? quantiles.p50
                                     : name == "p90" ? quantiles.p90
                                     : name == "p99" ? quantiles.p99
                                                     : quantiles.max);
      if (name == "p50" || name == "p90" || name == "p99" || name == "max") {
        EXPECT_DOUBLE_EQ(point.y, expected) << size << " " << name;
      }
    }
    EXPECT_DOUBLE_EQ(last_x, chart.x_most);
    EXPECT_EQ(chart.x_ticks.back().label, "max");
  }
}

// What is drawn for each part adds up to what there was.
TEST(TimeChartsTest, RatesAddUp) {
  std::mt19937 random(5);
  LoadResult result{.calls = {}, .elapsed = absl::Seconds(30)};
  int64_t succeeded = 0, failed = 0;
  for (int i = 0; i < 500; ++i) {
    const bool fails = random() % 5 == 0;
    result.calls.push_back(
        {.code = fails ? absl::StatusCode::kInternal : absl::StatusCode::kOk,
         .total = absl::Milliseconds(1 + random() % 50),
         // The last one ends with the run.
         .end =
             i == 499 ? result.elapsed : absl::Milliseconds(random() % 30000)});
    ++(fails ? failed : succeeded);
  }
  const std::vector<Chart> charts = TimeCharts(result);
  ASSERT_EQ(charts.size(), 2);  // no tokens, no queue
  EXPECT_EQ(charts[0].title, "Calls a second");
  ASSERT_EQ(charts[0].curves.size(), 2);
  EXPECT_LE(charts[0].curves[0].points.size(), 60);
  for (const ChartCurve& curve : charts[0].curves) {
    double sum = 0;
    for (const ChartPoint& point : curve.points) {
      EXPECT_LT(point.x, charts[0].x_most);
      sum += point.y * 30 / static_cast<double>(curve.points.size());
    }
    EXPECT_NEAR(sum, curve.name == "failed" ? failed : succeeded, 1e-6);
  }
  EXPECT_DOUBLE_EQ(charts[0].x_most, 30);
  EXPECT_EQ(charts[1].title, "End to end");
  ASSERT_EQ(charts[1].curves.size(), 3);
  for (size_t i = 0; i < charts[1].curves[0].points.size(); ++i) {
    EXPECT_LE(charts[1].curves[0].points[i].y, charts[1].curves[1].points[i].y);
    EXPECT_LE(charts[1].curves[1].points[i].y, charts[1].curves[2].points[i].y);
  }
}

}  // namespace
}  // namespace attend
