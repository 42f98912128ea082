#ifndef ATTEND_SERVER_OBSERVABILITY_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_METRICS_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "engine/api/engine.h"
#include "server/observability/call_metrics.h"
#include "server/observability/model_metrics.h"

namespace attend {

// Everything that Attend tells Prometheus: of the process, and of each model
// under its name. All series of a model exist once it was added, with the value
// 0, so that a rate over a first event is right. Thread-safe. Owns what it
// returns.
class Metrics {
 public:
  // `version` is that of the build.
  explicit Metrics(absl::string_view version);
  ~Metrics();

  // A model that is served.
  ModelMetrics& AddModel(const ModelInfo& model);
  // A model that could not be loaded; calls that ask for it are counted.
  CallMetrics& AddBrokenModel(absl::string_view name);
  // Of calls that belong to no model, or ended before it was known: the label
  // is empty.
  CallMetrics& other_calls();

  // The text exposition format; also reads the process's own figures.
  std::string Serialize() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_METRICS_H_
