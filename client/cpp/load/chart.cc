#include "client/cpp/load/chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/load/html.h"

namespace attend {
namespace {

// Pixels: of the picture, and of its frame.
constexpr double kWidth = 720, kHeight = 260;
constexpr double kLeft = 64, kRight = 700, kTop = 58, kBottom = 226;
constexpr size_t kLooks = 3;

// Where a chart's numbers lie in the picture.
struct Scale {
  double x_most;
  double y_most;

  double X(double x) const {
    return kLeft + std::clamp(x / x_most, 0.0, 1.0) * (kRight - kLeft);
  }
  double Y(double y) const {
    return kBottom - std::clamp(y / y_most, 0.0, 1.0) * (kBottom - kTop);
  }
};

std::string Text(double x, double y, const char* kind, const std::string& text,
                 const char* anchor = "start") {
  return absl::StrFormat(
      "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">%s</text>\n",
      x, y, kind, anchor, EscapeHtml(text));
}

std::string Line(double x1, double y1, double x2, double y2,
                 const std::string& kind) {
  return absl::StrFormat(
      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n",
      x1, y1, x2, y2, kind);
}

std::string Axes(const Chart& chart, const Scale& scale,
                 const std::vector<ChartTick>& y_ticks) {
  std::string svg;
  for (const ChartTick& tick : y_ticks) {
    const double y = scale.Y(tick.at);
    absl::StrAppend(&svg, Line(kLeft, y, kRight, y, "grid"),
                    Text(kLeft - 8, y + 4, "quiet", tick.label, "end"));
  }
  for (const ChartTick& tick : chart.x_ticks) {
    const double x = scale.X(tick.at);
    absl::StrAppend(&svg, Line(x, kBottom, x, kBottom + 4, "grid"),
                    Text(x, kBottom + 18, "quiet", tick.label, "middle"));
  }
  return svg;
}

std::string Look(size_t index) { return absl::StrCat("c", index % kLooks); }

std::string Legend(const Chart& chart) {
  std::string svg;
  double x = kRight;
  for (size_t i = chart.curves.size(); i-- > 0;) {
    const std::string& name = chart.curves[i].name;
    x -= 44 + 7 * static_cast<double>(name.size());
    absl::StrAppend(&svg, Line(x, 16, x + 26, 16, "curve " + Look(i)),
                    Text(x + 32, 20, "", name));
  }
  return svg;
}

std::string Curve(const ChartCurve& curve, size_t index, const Scale& scale) {
  std::string line, dots;
  for (const ChartPoint& point : curve.points) {
    const double x = scale.X(point.x), y = scale.Y(point.y);
    absl::StrAppendFormat(&line, "%s%.1f,%.1f", line.empty() ? "" : " ", x, y);
    if (point.said.empty()) continue;
    absl::StrAppendFormat(&dots,
                          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" "
                          "class=\"dot %s\"><title>%s</title></circle>\n",
                          x, y, Look(index), EscapeHtml(point.said));
  }
  return absl::StrCat("<polyline points=\"", line, "\" class=\"curve ",
                      Look(index), "\"/>\n", dots);
}

}  // namespace

std::vector<ChartTick> YTicks(double most) {
  if (!(most > 0) || !std::isfinite(most)) most = 1;
  const double power = std::pow(10, std::floor(std::log10(most / 5)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (5 * factor * power >= most) {
      step = factor * power;
      break;
    }
  }
  std::vector<ChartTick> ticks;
  for (int i = 0; i == 0 || ticks.back().at < most; ++i) {
    ticks.push_back({i * step, absl::StrFormat("%.6g", i * step)});
  }
  return ticks;
}

std::string ToSvg(const Chart& chart) {
  double most = 0;
  for (const ChartCurve& curve : chart.curves) {
    for (const ChartPoint& point : curve.points) most = std::max(most, point.y);
  }
  const std::vector<ChartTick> y_ticks = YTicks(most);
  const Scale scale{chart.x_most > 0 ? chart.x_most : 1, y_ticks.back().at};
  std::string svg = absl::StrFormat(
      "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n",
      kWidth, kHeight, EscapeHtml(chart.title));
  absl::StrAppend(&svg, Text(8, 20, "title", chart.title),
                  Text(8, 38, "quiet", chart.note),
                  chart.curves.size() > 1 ? Legend(chart) : "",
                  Axes(chart, scale, y_ticks));
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    absl::StrAppend(&svg, Curve(chart.curves[i], i, scale));
  }
  return svg + "</svg>\n";
}

const char kChartStyle[] = R"(
:root { color-scheme: light dark; --page: #ffffff; --text: #1f2328;
  --quiet: #59636e; --grid: #d0d7de; --c0: #1f6feb; --c1: #9a6700;
  --c2: #6e7781 }
@media (prefers-color-scheme: dark) {
  :root { --page: #0d1117; --text: #f0f6fc; --quiet: #9198a1;
    --grid: #3d444d; --c0: #58a6ff; --c1: #d29922; --c2: #8c959f } }
svg { display: block; width: 100%; max-width: 720px; margin: 1.5em 0 }
svg text { fill: var(--text); font: 12px system-ui, sans-serif }
svg .title { font-size: 14px; font-weight: 600 }
svg .quiet { fill: var(--quiet) }
svg .grid { stroke: var(--grid) }
svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round }
svg .c0 { stroke: var(--c0) } svg .c1 { stroke: var(--c1) }
svg .c2 { stroke: var(--c2) }
svg .curve.c1 { stroke-dasharray: 7 3 } svg .curve.c2 { stroke-dasharray: 2 3 }
svg .dot { fill: var(--page) }
)";

}  // namespace attend
