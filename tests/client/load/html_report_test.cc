#include "client/cpp/load/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/load/html.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The first tag that is not closed where it should be; empty: all are.
std::string WrongTag(const std::string& page) {
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos;
       at = page.find('<', at)) {
    const size_t end = page.find('>', at);
    if (end == std::string::npos) return page.substr(at);
    const std::string tag = page.substr(at + 1, end - at - 1);
    at = end;
    if (absl::StartsWith(tag, "!") || absl::EndsWith(tag, "/")) continue;
    if (!absl::StartsWith(tag, "/")) {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else if (open.empty() || tag.substr(1) != open.back()) {
      return tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// 100 calls of 1 to 100 ms, one after the other.
LoadResult Hundred() {
  LoadResult result;
  for (int i = 1; i <= 100; ++i) {
    result.elapsed += absl::Milliseconds(i);
    result.calls.push_back({.first_token = absl::Milliseconds(i) / 4,
                            .gaps = {absl::Milliseconds(i) / 8},
                            .total = absl::Milliseconds(i),
                            .end = result.elapsed,
                            .queue = absl::Milliseconds(i) / 10,
                            .tokens = 2,
                            .source_tokens = 3,
                            .inputs = 1});
  }
  return result;
}

MeasuredRun Measured(LoadResult result, const std::string& title = "") {
  BenchReport report = MakeReport(result, /*stream=*/true);
  return {title, std::move(result), std::move(report)};
}

TEST(HtmlReportTest, HasTheFigures) {
  const std::string page = ToHtml({{"model", "en-de"}}, {Measured(Hundred())});
  EXPECT_EQ(WrongTag(page), "");
  EXPECT_THAT(page, HasSubstr("<th>model</th><td>en-de</td>"));
  EXPECT_THAT(page, HasSubstr("<td>end to end</td><td>100</td><td>50.50</td>"
                              "<td>50.00</td><td>90.00</td><td>99.00</td>"
                              "<td>100.00</td>"));
  EXPECT_THAT(page, HasSubstr("<td>queue</td><td>100</td><td>5.05</td>"));
  // Dots of the charts say the same.
  for (const char* said :
       {"p50: 50.00 ms", "p90: 90.00 ms", "p99: 99.00 ms", "max: 100.00 ms",
        "p50: 12.50 ms", "p50: 5.00 ms", "p99: 12.38 ms"}) {
    EXPECT_THAT(page, HasSubstr(said));
  }
  EXPECT_EQ(Count(page, "<svg "), 8);
}

TEST(HtmlReportTest, NeedsNothingElse) {
  const std::string page = ToHtml({}, {Measured(Hundred())});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* other :
       {"<script", "src=", "href=", "url(", "@import", "http:", "https:"}) {
    EXPECT_THAT(page, Not(HasSubstr(other)));
  }
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
}

TEST(HtmlReportTest, EscapesWhatComesFromOutside) {
  const std::string hostile = "</td><script>alert('\"&')</script>\x01";
  const std::string page =
      ToHtml({{"model", hostile}}, {Measured(Hundred(), hostile)});
  EXPECT_EQ(WrongTag(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_EQ(Count(page,
                  "&lt;/td&gt;&lt;script&gt;alert(&#39;&quot;&amp;&#39;)"
                  "&lt;/script&gt;\xEF\xBF\xBD"),
            2);
  EXPECT_EQ(EscapeHtml("größer\n"), "größer\n");
  EXPECT_EQ(EscapeHtml("a\xFF"), "a\xEF\xBF\xBD");
}

TEST(HtmlReportTest, RunsWithoutCallsThatSucceeded) {
  EXPECT_EQ(Count(ToHtml({}, {Measured({})}), "<svg "), 0);
  LoadResult failed = Hundred();
  for (CallRecord& call : failed.calls) {
    call.code = absl::StatusCode::kUnavailable;
  }
  const std::string page = ToHtml({}, {Measured(std::move(failed))});
  EXPECT_EQ(WrongTag(page), "");
  EXPECT_THAT(page, HasSubstr("calls that failed: UNAVAILABLE</td><td>100<"));
  EXPECT_THAT(page, Not(HasSubstr("end to end</td>")));
  // Their rates are drawn, but no latency.
  EXPECT_EQ(Count(page, "<svg "), 3);
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("inf,")));
}

TEST(HtmlReportTest, OneCall) {
  LoadResult one = Hundred();
  one.calls.resize(1);
  one.elapsed = absl::Milliseconds(1);
  const std::string page = ToHtml({}, {Measured(std::move(one))});
  EXPECT_THAT(page, HasSubstr("min: 1.00 ms"));
  EXPECT_THAT(page, HasSubstr("max: 1.00 ms"));
  EXPECT_THAT(page, HasSubstr(": 1000.0 a second"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(HtmlReportTest, EachRunHasASection) {
  const std::string page =
      ToHtml({}, {Measured(Hundred(), "Quiet"), Measured(Hundred(), "Busy")});
  EXPECT_EQ(WrongTag(page), "");
  EXPECT_THAT(page, HasSubstr("<h2>Quiet</h2>"));
  EXPECT_THAT(page, HasSubstr("<h2>Busy</h2>"));
  EXPECT_EQ(Count(page, "<svg "), 16);
}

}  // namespace
}  // namespace attend
