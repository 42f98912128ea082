#ifndef ATTEND_CLIENT_CPP_TOP_FIGURES_H_
#define ATTEND_CLIENT_CPP_TOP_FIGURES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cpp/top/metrics_text.h"

namespace attend {

// What `attend top` shows of a model. Rates and quantiles are those between two
// readings of the metrics; nullopt: nothing was counted.
struct ModelFigures {
  std::string name;
  std::string family;
  std::string dtype;
  bool ready = false;
  int running = 0;       // sequences
  int queued = 0;        // inputs
  double generated = 0;  // tokens a second
  double read = 0;       // source tokens a second
  double calls = 0;      // a second, those that failed included
  double kv_used = 0;    // share of the blocks, in [0, 1]
  std::optional<absl::Duration> first_token_p50;
  std::optional<absl::Duration> first_token_p99;
};

struct ServerFigures {
  std::string version;
  double cpus = 0;  // CPU seconds a second
  double resident_bytes = 0;
  double connections = 0;  // of the gRPC port
  std::vector<ModelFigures> models;
};

// `elapsed` is the time between the two readings, above zero.
ServerFigures FiguresBetween(const Samples& before, const Samples& now,
                             absl::Duration elapsed);

// The quantile `share`, in (0, 1], of what the histogram counted for `model`
// between two readings, in the histogram's unit. Values are taken to lie evenly
// within a bucket, as Prometheus takes them.
std::optional<double> Quantile(const Samples& before, const Samples& now,
                               absl::string_view histogram,
                               absl::string_view model, double share);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_TOP_FIGURES_H_
