#include "client/cpp/top/screen.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace attend {
namespace {

constexpr size_t kMostReadings = 512;
constexpr size_t kNameColumns = 20;

// At most `width` bytes; a control character or a byte above ASCII is a "?".
std::string Plain(absl::string_view text, size_t width) {
  std::string plain(text.substr(0, width));
  for (char& c : plain) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return plain;
}

std::string Milliseconds(const std::optional<absl::Duration>& time) {
  if (!time) return "-";
  return absl::StrFormat("%.1f", absl::ToDoubleMilliseconds(*time));
}

std::string TableHead() {
  return absl::StrFormat("%-20s %-5s %7s %6s %6s %8s %8s %6s %8s %8s", "MODEL",
                         "READY", "CALLS/S", "RUN", "QUEUE", "GEN/S", "READ/S",
                         "KV", "TTFT50", "TTFT99");
}

std::string TableRow(const ModelFigures& model) {
  return absl::StrFormat(
      "%-20s %-5s %7.1f %6d %6d %8.0f %8.0f %5.1f%% %8s %8s",
      Plain(model.name, kNameColumns), model.ready ? "yes" : "no", model.calls,
      model.running, model.queued, model.generated, model.read,
      100 * model.kv_used, Milliseconds(model.first_token_p50),
      Milliseconds(model.first_token_p99));
}

// A curve of one row: a block of an eighth to eight eighths for each value, the
// last one at the right. `most` is the value of a full block.
std::string Curve(const std::vector<double>& values, double most,
                  size_t width) {
  static constexpr absl::string_view kBlocks[] = {"▁", "▂", "▃", "▄",
                                                  "▅", "▆", "▇", "█"};
  const size_t shown = std::min(values.size(), width);
  std::string curve(width - shown, ' ');
  for (size_t i = values.size() - shown; i < values.size(); ++i) {
    if (values[i] <= 0 || most <= 0) {
      curve += ' ';
      continue;
    }
    const double eighths = std::ceil(8 * std::min(1.0, values[i] / most));
    absl::StrAppend(&curve, kBlocks[static_cast<int>(eighths) - 1]);
  }
  return curve;
}

}  // namespace

void Screen::Add(const ServerFigures& figures) {
  Reading reading;
  for (const ModelFigures& model : figures.models) {
    reading.generated += model.generated;
    reading.read += model.read;
    reading.queued += model.queued;
    reading.kv_percent = std::max(reading.kv_percent, 100 * model.kv_used);
  }
  readings_.push_back(reading);
  if (readings_.size() > kMostReadings) readings_.pop_front();
}

std::string Screen::Draw(const ServerFigures& figures, ScreenSize size) const {
  const size_t columns = std::max(size.columns, 1);
  std::vector<std::string> lines;
  const auto add = [&](absl::string_view line) {
    lines.emplace_back(line.substr(0, columns));
  };
  add(
      absl::StrFormat("attend %s   CPUs %.2f   memory %.0f MB   connections "
                      "%.0f",
                      Plain(figures.version, kNameColumns), figures.cpus,
                      figures.resident_bytes / 1e6, figures.connections));
  add("");
  add(TableHead());
  for (const ModelFigures& model : figures.models) add(TableRow(model));
  add("");
  const auto curve = [&](const char* title, double Reading::*field,
                         double least_most) {
    std::vector<double> values;
    values.reserve(readings_.size());
    for (const Reading& reading : readings_) values.push_back(reading.*field);
    double most = least_most;
    for (const double value : values) most = std::max(most, value);
    const std::string label = absl::StrFormat("%-10s %8.0f ", title, most);
    if (label.size() >= columns) return;
    lines.push_back(label + Curve(values, most, columns - label.size()));
  };
  curve("generated", &Reading::generated, 1);
  curve("read", &Reading::read, 1);
  curve("queue", &Reading::queued, 1);
  curve("KV %", &Reading::kv_percent, 100);

  std::string picture;
  const size_t rows = std::min<size_t>(lines.size(), std::max(size.rows, 1));
  for (size_t i = 0; i < rows; ++i) absl::StrAppend(&picture, lines[i], "\n");
  return picture;
}

}  // namespace attend
