#include "client/cpp/top/figures.h"

#include <limits>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

const std::string& Label(const Sample& sample, const char* name) {
  static const std::string& none = *new std::string;
  const auto found = sample.labels.find(name);
  return found == sample.labels.end() ? none : found->second;
}

const std::vector<Sample>& Find(const Samples& samples,
                                absl::string_view name) {
  static const auto& none = *new std::vector<Sample>;
  const auto found = samples.find(name);
  return found == samples.end() ? none : found->second;
}

// The sum over all series of a metric that are of `model`.
double Sum(const Samples& samples, absl::string_view name,
           absl::string_view model) {
  double sum = 0;
  for (const Sample& sample : Find(samples, name)) {
    if (Label(sample, "model") == model) sum += sample.value;
  }
  return sum;
}

double First(const Samples& samples, absl::string_view name) {
  const std::vector<Sample>& found = Find(samples, name);
  return found.empty() ? 0 : found.front().value;
}

// What a counter grew by: all of it, if the server was started anew.
double Growth(double before, double now) {
  return now < before ? now : now - before;
}

// The counts of a histogram by the upper bound of the bucket.
std::map<double, double> Buckets(const Samples& samples,
                                 absl::string_view histogram,
                                 absl::string_view model) {
  std::map<double, double> counts;
  for (const Sample& sample :
       Find(samples, absl::StrCat(histogram, "_bucket"))) {
    double bound = 0;
    if (Label(sample, "model") == model &&
        absl::SimpleAtod(Label(sample, "le"), &bound)) {
      counts[bound] += sample.value;
    }
  }
  return counts;
}

std::optional<absl::Duration> FirstToken(const Samples& before,
                                         const Samples& now,
                                         absl::string_view model,
                                         double share) {
  const auto seconds =
      Quantile(before, now, "attend_time_to_first_token_seconds", model, share);
  if (!seconds) return std::nullopt;
  return absl::Seconds(*seconds);
}

ModelFigures ModelBetween(const Samples& before, const Samples& now,
                          const std::string& name, double seconds) {
  const auto rate = [&](const char* counter) {
    return Growth(Sum(before, counter, name), Sum(now, counter, name)) /
           seconds;
  };
  const double blocks = Sum(now, "attend_kv_blocks_capacity", name);
  return {
      .name = name,
      .family = "",  // these two are in another metric
      .dtype = "",
      .ready = Sum(now, "attend_model_ready", name) == 1,
      .running = static_cast<int>(Sum(now, "attend_running_sequences", name)),
      .queued = static_cast<int>(Sum(now, "attend_queued_requests", name)),
      .generated = rate("attend_generated_tokens_total"),
      .read = rate("attend_source_tokens_total"),
      .calls = rate("attend_requests_total"),
      .kv_used =
          blocks == 0 ? 0 : Sum(now, "attend_kv_blocks_used", name) / blocks,
      .first_token_p50 = FirstToken(before, now, name, 0.5),
      .first_token_p99 = FirstToken(before, now, name, 0.99),
  };
}

}  // namespace

std::optional<double> Quantile(const Samples& before, const Samples& now,
                               absl::string_view histogram,
                               absl::string_view model, double share) {
  const std::map<double, double> earlier = Buckets(before, histogram, model);
  std::map<double, double> counts = Buckets(now, histogram, model);
  for (auto& [bound, count] : counts) {
    const auto found = earlier.find(bound);
    count = Growth(found == earlier.end() ? 0 : found->second, count);
  }
  if (counts.empty() || counts.rbegin()->second == 0) return std::nullopt;
  const double rank = share * counts.rbegin()->second;
  double low = 0;
  double below = 0;
  for (const auto& [bound, count] : counts) {
    if (count >= rank) {
      if (bound == std::numeric_limits<double>::infinity()) return low;
      return low + (bound - low) * (rank - below) / (count - below);
    }
    low = bound;
    below = count;
  }
  return low;
}

ServerFigures FiguresBetween(const Samples& before, const Samples& now,
                             absl::Duration elapsed) {
  const double seconds = absl::ToDoubleSeconds(elapsed);
  ServerFigures figures;
  for (const Sample& build : Find(now, "attend_build_info")) {
    figures.version = Label(build, "version");
  }
  figures.cpus = Growth(First(before, "process_cpu_seconds_total"),
                        First(now, "process_cpu_seconds_total")) /
                 seconds;
  figures.resident_bytes = First(now, "process_resident_memory_bytes");
  figures.connections = First(now, "attend_grpc_connections");
  for (const Sample& ready : Find(now, "attend_model_ready")) {
    figures.models.push_back(
        ModelBetween(before, now, Label(ready, "model"), seconds));
  }
  for (const Sample& info : Find(now, "attend_model_info")) {
    for (ModelFigures& model : figures.models) {
      if (model.name != Label(info, "model")) continue;
      model.family = Label(info, "family");
      model.dtype = Label(info, "dtype");
    }
  }
  return figures;
}

}  // namespace attend
