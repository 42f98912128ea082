#include "server/observability/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

prometheus::MetricFamily Family(const char* name, const char* help,
                                prometheus::MetricType type, double value) {
  prometheus::ClientMetric metric;
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  return {name, help, type, {metric}};
}

// Seconds since the epoch at which the machine started; 0 if unknown.
double BootTime() {
  for (absl::string_view line : absl::StrSplit(ReadFile("/proc/stat"), '\n')) {
    double seconds = 0;
    if (absl::ConsumePrefix(&line, "btime ") &&
        absl::SimpleAtod(line, &seconds)) {
      return seconds;
    }
  }
  return 0;
}

// Adds CPU time, start and memory of the process.
void AddFromStat(std::vector<prometheus::MetricFamily>& families) {
  using Type = prometheus::MetricType;
  // Fields of proc(5) after the command's closing bracket, "state" first.
  const std::string stat = ReadFile("/proc/self/stat");
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(stat).substr(
                         std::min(stat.size(), stat.rfind(')') + 2)),
                     ' ');
  double user = 0, system = 0, started = 0, virtual_bytes = 0, pages = 0;
  if (fields.size() > 21 && absl::SimpleAtod(fields[11], &user) &&
      absl::SimpleAtod(fields[12], &system) &&
      absl::SimpleAtod(fields[19], &started) &&
      absl::SimpleAtod(fields[20], &virtual_bytes) &&
      absl::SimpleAtod(fields[21], &pages)) {
    const double ticks = sysconf(_SC_CLK_TCK);
    families.push_back(Family("process_cpu_seconds_total",
                              "CPU time spent in user and system mode.",
                              Type::Counter, (user + system) / ticks));
    families.push_back(Family("process_start_time_seconds",
                              "When the process started, since the epoch.",
                              Type::Gauge, BootTime() + started / ticks));
    families.push_back(Family("process_virtual_memory_bytes", "Virtual memory.",
                              Type::Gauge, virtual_bytes));
    families.push_back(Family("process_resident_memory_bytes",
                              "Resident memory.", Type::Gauge,
                              pages * sysconf(_SC_PAGESIZE)));
  }
}

}  // namespace

std::vector<prometheus::MetricFamily> ProcessMetrics::Collect() const {
  using Type = prometheus::MetricType;
  std::vector<prometheus::MetricFamily> families;
  AddFromStat(families);
  std::error_code error;
  std::filesystem::directory_iterator open("/proc/self/fd", error);
  if (!error) {
    families.push_back(Family("process_open_fds", "Open file descriptors.",
                              Type::Gauge,
                              std::distance(begin(open), end(open))));
  }
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    families.push_back(Family("process_max_fds",
                              "Limit of open file descriptors.", Type::Gauge,
                              static_cast<double>(limit.rlim_cur)));
  }
  return families;
}

}  // namespace attend
