#ifndef ATTEND_CLIENT_CPP_LOAD_CHART_H_
#define ATTEND_CLIENT_CPP_LOAD_CHART_H_

#include <string>
#include <vector>

namespace attend {

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string said = {};  // shown under the mouse; empty: no dot
};

struct ChartCurve {
  std::string name;
  std::vector<ChartPoint> points;  // from left to right
};

struct ChartTick {
  double at = 0;
  std::string label;
};

// Curves over an axis from 0 to x_most, from 0 up to what is highest. At most
// three have looks of their own.
struct Chart {
  std::string title;
  std::string note = {};  // below the title
  std::vector<ChartTick> x_ticks = {};
  double x_most = 1;
  std::vector<ChartCurve> curves = {};
};

// The lines that the y axis of a chart has, 0 among them: 1, 2 or 5 times a
// power of ten apart, at most six. The last one is at `most` or above, and
// above 0.
std::vector<ChartTick> YTicks(double most);

// An <svg> element whose colours are those of kChartStyle. Texts are escaped.
std::string ToSvg(const Chart& chart);

// The CSS of charts, for light and dark.
extern const char kChartStyle[];

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_CHART_H_
