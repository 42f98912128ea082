#include "client/cpp/load/report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

Json QuantilesJson(const Quantiles& quantiles) {
  return {{"count", quantiles.count},
          {"mean", absl::ToDoubleSeconds(quantiles.mean)},
          {"p50", absl::ToDoubleSeconds(quantiles.p50)},
          {"p90", absl::ToDoubleSeconds(quantiles.p90)},
          {"p99", absl::ToDoubleSeconds(quantiles.p99)},
          {"max", absl::ToDoubleSeconds(quantiles.max)}};
}

Json ReportJson(const BenchReport& report) {
  Json json = {{"succeeded", report.succeeded},
               {"errors", report.errors},
               {"elapsed_seconds", absl::ToDoubleSeconds(report.elapsed)},
               {"generated_tokens", report.tokens},
               {"source_tokens", report.source_tokens},
               {"inputs", report.inputs},
               {"requests_per_second", report.requests_per_second},
               {"tokens_per_second", report.tokens_per_second},
               {"source_tokens_per_second", report.source_tokens_per_second},
               {"inputs_per_second", report.inputs_per_second}};
  if (report.stream) {
    json["first_token_seconds"] = QuantilesJson(report.first_token);
    json["inter_token_seconds"] = QuantilesJson(report.inter_token);
  }
  json["end_to_end_seconds"] = QuantilesJson(report.end_to_end);
  if (report.queue.count > 0) {
    json["queue_seconds"] = QuantilesJson(report.queue);
  }
  return json;
}

std::string Row(const char* name, const Quantiles& quantiles) {
  return absl::StrFormat("%-12s %9.2f %9.2f %9.2f %9.2f %9.2f\n", name,
                         absl::ToDoubleMilliseconds(quantiles.mean),
                         absl::ToDoubleMilliseconds(quantiles.p50),
                         absl::ToDoubleMilliseconds(quantiles.p90),
                         absl::ToDoubleMilliseconds(quantiles.p99),
                         absl::ToDoubleMilliseconds(quantiles.max));
}

}  // namespace

BenchReport MakeReport(const LoadResult& result, bool stream) {
  BenchReport report{.elapsed = result.elapsed, .stream = stream};
  std::vector<absl::Duration> first_token, inter_token, end_to_end, queue;
  for (const CallRecord& call : result.calls) {
    if (call.code != absl::StatusCode::kOk) {
      ++report.errors[absl::StatusCodeToString(call.code)];
      continue;
    }
    ++report.succeeded;
    report.tokens += call.tokens;
    report.source_tokens += call.source_tokens;
    report.inputs += call.inputs;
    if (call.first_token > absl::ZeroDuration()) {
      first_token.push_back(call.first_token);
    }
    inter_token.insert(inter_token.end(), call.gaps.begin(), call.gaps.end());
    end_to_end.push_back(call.total);
    if (call.queue.has_value()) queue.push_back(*call.queue);
  }
  const double seconds = absl::ToDoubleSeconds(result.elapsed);
  if (seconds > 0) {
    report.requests_per_second =
        static_cast<double>(report.succeeded) / seconds;
    report.tokens_per_second = static_cast<double>(report.tokens) / seconds;
    report.source_tokens_per_second =
        static_cast<double>(report.source_tokens) / seconds;
    report.inputs_per_second = static_cast<double>(report.inputs) / seconds;
  }
  report.first_token = Summarize(std::move(first_token));
  report.inter_token = Summarize(std::move(inter_token));
  report.end_to_end = Summarize(std::move(end_to_end));
  report.queue = Summarize(std::move(queue));
  return report;
}

std::string ToTable(const BenchReport& report) {
  std::string table = absl::StrFormat(
      "requests   %d ok in %.2f s: %.1f requests/s, %.1f tokens/s\n",
      report.succeeded, absl::ToDoubleSeconds(report.elapsed),
      report.requests_per_second, report.tokens_per_second);
  absl::StrAppendFormat(
      &table, "inputs     %d: %.1f inputs/s, %.1f source tokens/s\n",
      report.inputs, report.inputs_per_second, report.source_tokens_per_second);
  for (const auto& [code, count] : report.errors) {
    absl::StrAppend(&table, "errors     ", count, " ", code, "\n");
  }
  absl::StrAppendFormat(&table, "%-12s %9s %9s %9s %9s %9s\n", "milliseconds",
                        "mean", "p50", "p90", "p99", "max");
  if (report.stream) {
    absl::StrAppend(&table, Row("first token", report.first_token),
                    Row("inter-token", report.inter_token));
  }
  absl::StrAppend(&table, Row("end to end", report.end_to_end));
  if (report.queue.count > 0) {
    absl::StrAppend(&table, Row("queue", report.queue));
  }
  return table;
}

std::string ToJson(const BenchReport& report) {
  return ReportJson(report).dump(2);
}

double InterferenceReport::Ratio() const {
  if (busy.inter_token.count == 0 || quiet.inter_token.count == 0) return 0;
  return absl::FDivDuration(busy.inter_token.p99, quiet.inter_token.p99);
}

std::string ToTable(const InterferenceReport& report) {
  return absl::StrCat(
      "quiet\n", ToTable(report.quiet), "\nwhile long inputs come in\n",
      ToTable(report.busy),
      absl::StrFormat("\np99 inter-token time, busy / quiet: %.2f\n",
                      report.Ratio()));
}

std::string ToJson(const InterferenceReport& report) {
  return Json{{"quiet", ReportJson(report.quiet)},
              {"busy", ReportJson(report.busy)},
              {"p99_inter_token_ratio", report.Ratio()}}
      .dump(2);
}

}  // namespace attend
