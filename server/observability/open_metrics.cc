#include "server/observability/open_metrics.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

// The fewest digits that are the number; with a point, as labels `le` have to
// be.
std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 512> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), value,
                                 std::chars_format::fixed);
  std::string text(digits.data(), end.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"\\", "\\\\"}, {"\n", "\\n"}, {"\"", "\\\""}});
}

std::string Labels(const std::vector<ClientMetric::Label>& labels,
                   const std::string& bound = "") {
  std::vector<std::string> parts;
  parts.reserve(labels.size() + 1);
  for (const ClientMetric::Label& label : labels) {
    parts.push_back(
        absl::StrCat(label.name, "=\"", Escaped(label.value), "\""));
  }
  if (!bound.empty()) parts.push_back(absl::StrCat("le=\"", bound, "\""));
  if (parts.empty()) return "";
  return absl::StrCat("{", absl::StrJoin(parts, ","), "}");
}

std::string ExemplarText(const Exemplar& exemplar) {
  if (exemplar.trace_id.empty()) return "";
  const auto milliseconds =
      static_cast<double>(absl::ToUnixMillis(exemplar.time));
  return absl::StrCat(" # {trace_id=\"", exemplar.trace_id, "\"} ",
                      Number(exemplar.value), " ", Number(milliseconds / 1e3));
}

void AddHistogram(const std::string& name, const ClientMetric& metric,
                  const ExemplarMap& exemplars, std::string& text) {
  std::map<std::string, std::string> labels;
  for (const ClientMetric::Label& label : metric.label) {
    labels[label.name] = label.value;
  }
  const auto found = exemplars.find({name, labels});
  for (size_t b = 0; b < metric.histogram.bucket.size(); ++b) {
    const ClientMetric::Bucket& bucket = metric.histogram.bucket[b];
    absl::StrAppend(
        &text, name, "_bucket",
        Labels(metric.label, Number(bucket.upper_bound)), " ",
        bucket.cumulative_count,
        found == exemplars.end() ? "" : ExemplarText(found->second[b]), "\n");
  }
  const std::string same = Labels(metric.label);
  absl::StrAppend(&text, name, "_count", same, " ",
                  metric.histogram.sample_count, "\n", name, "_sum", same, " ",
                  Number(metric.histogram.sample_sum), "\n");
}

void AddFamily(const prometheus::MetricFamily& family,
               const ExemplarMap& exemplars, std::string& text) {
  const bool counts = family.type == MetricType::Counter;
  const bool histogram = family.type == MetricType::Histogram;
  ATTEND_CHECK(counts || histogram || family.type == MetricType::Gauge);
  const std::string name(counts ? absl::StripSuffix(family.name, "_total")
                                : family.name);
  absl::StrAppend(&text, "# TYPE ", name,
                  counts ? " counter" : (histogram ? " histogram" : " gauge"),
                  "\n# HELP ", name, " ", Escaped(family.help), "\n");
  for (const ClientMetric& metric : family.metric) {
    if (histogram) {
      AddHistogram(name, metric, exemplars, text);
    } else {
      absl::StrAppend(
          &text, name, counts ? "_total" : "", Labels(metric.label), " ",
          Number(counts ? metric.counter.value : metric.gauge.value), "\n");
    }
  }
}

}  // namespace

std::string ToOpenMetrics(const std::vector<prometheus::MetricFamily>& families,
                          const ExemplarMap& exemplars) {
  std::string text;
  for (const prometheus::MetricFamily& family : families) {
    AddFamily(family, exemplars, text);
  }
  return text + "# EOF\n";
}

}  // namespace attend
