#include "client/cpp/load/html_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/load/chart.h"
#include "client/cpp/load/html.h"
#include "client/cpp/load/run_charts.h"

namespace attend {
namespace {

constexpr char kStyle[] = R"(
body { background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2em auto;
  padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 }
th, td { border-bottom: 1px solid var(--grid); padding: 3px 14px 3px 0;
  text-align: left; vertical-align: top }
.figures td + td, .figures th + th { text-align: right }
td { overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
)";

std::string FactsTable(const ReportFacts& facts) {
  std::string html = "<table>\n";
  for (const auto& [name, value] : facts) {
    absl::StrAppend(&html, "<tr><th>", EscapeHtml(name), "</th><td>",
                    EscapeHtml(value), "</td></tr>\n");
  }
  return html + "</table>\n";
}

std::string TotalsTable(const BenchReport& report) {
  std::string html = absl::StrFormat(
      "<table class=\"figures\">\n"
      "<tr><th></th><th>total</th><th>a second</th></tr>\n"
      "<tr><td>calls that succeeded</td><td>%d</td><td>%.1f</td></tr>\n"
      "<tr><td>inputs</td><td>%d</td><td>%.1f</td></tr>\n"
      "<tr><td>source tokens</td><td>%d</td><td>%.1f</td></tr>\n"
      "<tr><td>generated tokens</td><td>%d</td><td>%.1f</td></tr>\n",
      report.succeeded, report.requests_per_second, report.inputs,
      report.inputs_per_second, report.source_tokens,
      report.source_tokens_per_second, report.tokens, report.tokens_per_second);
  for (const auto& [code, count] : report.errors) {
    absl::StrAppend(&html, "<tr><td>calls that failed: ", EscapeHtml(code),
                    "</td><td>", count, "</td><td></td></tr>\n");
  }
  return html + "</table>\n";
}

std::string TimesRow(const char* name, const Quantiles& times) {
  if (times.count == 0) return "";
  return absl::StrFormat(
      "<tr><td>%s</td><td>%d</td><td>%.2f</td><td>%.2f</td><td>%.2f</td>"
      "<td>%.2f</td><td>%.2f</td></tr>\n",
      name, times.count, absl::ToDoubleMilliseconds(times.mean),
      absl::ToDoubleMilliseconds(times.p50),
      absl::ToDoubleMilliseconds(times.p90),
      absl::ToDoubleMilliseconds(times.p99),
      absl::ToDoubleMilliseconds(times.max));
}

std::string TimesTable(const BenchReport& report) {
  return absl::StrCat(
      "<table class=\"figures\">\n<tr><th>milliseconds</th><th>count</th>"
      "<th>mean</th><th>p50</th><th>p90</th><th>p99</th><th>max</th></tr>\n",
      TimesRow("end to end", report.end_to_end),
      TimesRow("first token", report.first_token),
      TimesRow("inter-token", report.inter_token),
      TimesRow("queue", report.queue), "</table>\n");
}

std::string RunSection(const MeasuredRun& run) {
  std::string html;
  if (!run.title.empty()) {
    absl::StrAppend(&html, "<h2>", EscapeHtml(run.title), "</h2>\n");
  }
  absl::StrAppend(&html,
                  absl::StrFormat("<p>%.2f s.</p>\n",
                                  absl::ToDoubleSeconds(run.report.elapsed)),
                  TotalsTable(run.report), TimesTable(run.report));
  for (const Chart& chart : RunCharts(run.result)) {
    absl::StrAppend(&html, ToSvg(chart));
  }
  return html;
}

}  // namespace

std::string ToHtml(const ReportFacts& facts,
                   const std::vector<MeasuredRun>& runs) {
  std::string html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
      "<title>attend bench</title>\n<style>",
      kChartStyle, kStyle, "</style>\n</head>\n<body>\n<h1>attend bench</h1>\n",
      FactsTable(facts));
  for (const MeasuredRun& run : runs) absl::StrAppend(&html, RunSection(run));
  return html +
         "<p>Times are those of calls that succeeded, as the client measured "
         "them; the queue's are the server's, the longest of a call's "
         "inputs.</p>\n</body>\n</html>\n";
}

}  // namespace attend
