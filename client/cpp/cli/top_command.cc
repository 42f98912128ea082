#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/top/figures.h"
#include "client/cpp/top/http_get.h"
#include "client/cpp/top/metrics_text.h"
#include "client/cpp/top/screen.h"

namespace attend {
namespace {

struct TopOptions {
  HttpGetOptions http = {.url = "http://localhost:8080"};
  absl::Duration interval = absl::Seconds(2);
  int pictures = 0;  // 0: until it is interrupted
};

// The cursor to the first place, then what was below the picture goes.
constexpr char kHome[] = "\x1b[H";
constexpr char kClearBelow[] = "\x1b[J";
constexpr char kClearAll[] = "\x1b[2J";

ScreenSize TerminalSize() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return {.columns = 120, .rows = 1000};
  }
  // The last row stays free for the cursor.
  return {.columns = size.ws_col, .rows = std::max(1, size.ws_row - 1)};
}

// The picture with each line's rest cleared, so that nothing flickers.
std::string OverTheLast(const std::string& picture) {
  std::string text = kHome;
  for (const char c : picture) {
    if (c == '\n') text += "\x1b[K";
    text += c;
  }
  return text + kClearBelow;
}

// Readings of the metrics, and the pictures between them.
class Top {
 public:
  explicit Top(HttpGetOptions http) : http_(std::move(http)) {}

  // Reads the metrics. False, after a message, if the first reading fails; a
  // server that was there once may come back.
  bool Read() {
    const auto text = HttpGetBody(http_);
    if (!text.ok()) {
      PrintError(text.status());
      picture_.clear();
      const bool was_there = read_at_ != absl::InfinitePast();
      return was_there;
    }
    const absl::Time now = absl::Now();
    Samples samples = ParseMetrics(*text);
    if (read_at_ != absl::InfinitePast() && now > read_at_) {
      const ServerFigures figures =
          FiguresBetween(samples_, samples, now - read_at_);
      screen_.Add(figures);
      picture_ = screen_.Draw(figures, TerminalSize());
    }
    samples_ = std::move(samples);
    read_at_ = now;
    return true;
  }
  // Empty until there are two readings.
  const std::string& picture() const { return picture_; }

 private:
  const HttpGetOptions http_;
  Screen screen_;
  Samples samples_;
  absl::Time read_at_ = absl::InfinitePast();
  std::string picture_;
};

int RunTop(TopOptions options) {
  if (!absl::EndsWith(options.http.url, "/metrics")) {
    absl::StrAppend(&options.http.url,
                    absl::EndsWith(options.http.url, "/") ? "" : "/",
                    "metrics");
  }
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  Top top(options.http);
  if (!top.Read()) return kExitCallFailed;
  if (terminal && !Print(kClearAll)) return kExitCallFailed;
  for (int drawn = 0; options.pictures == 0 || drawn < options.pictures;) {
    absl::SleepFor(options.interval);
    if (!top.Read()) return kExitCallFailed;
    if (top.picture().empty()) continue;
    if (!Print(terminal ? OverTheLast(top.picture()) : top.picture())) {
      return kExitCallFailed;
    }
    ++drawn;
  }
  return kExitOk;
}

}  // namespace

Command AddTop(CLI::App& attend) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App& command = *attend.add_subcommand(
      "top",
      "Show a server live: its models, tokens per second, time to the first "
      "token, queues, and memory for keys and values");
  command
      .add_option(
          "url", options->http.url,
          "URL of the server's HTTP port: http://host:8080, or https://")
      ->envname("ATTEND_HTTP_URL")
      ->capture_default_str();
  command
      .add_option("--ca", options->http.ca,
                  "PEM file of the CAs accepted for the server's certificate "
                  "(default: those of the system)")
      ->envname("ATTEND_CA");
  command
      .add_option(
          "--metrics-token", options->http.token,
          "Key for the metrics, if the server requires one. Other users of "
          "this machine can see the option, but not the variable")
      ->envname("ATTEND_METRICS_TOKEN");
  AddTime(command, "--interval", "Time between two updates (default: 2s)",
          options->interval);
  AddTime(command, "--timeout", "Timeout of each update (default: 10s)",
          options->http.timeout);
  command
      .add_option("--pictures", options->pictures,
                  "Number of updates before exit; 0: run until interrupted")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  return {&command, [options] { return RunTop(*options); }};
}

}  // namespace attend
