#ifndef ATTEND_SERVER_METRICS_H_
#define ATTEND_SERVER_METRICS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "server/scheduler/request.h"
#include "server/scheduler/scheduler.h"

namespace attend {

// Methods of attend.v1, as a label.
enum class Method {
  kGenerate,
  kGenerateStream,
  kScore,
  kTokenize,
  kDetokenize,
  kListModels,
  kGetModel,
};
inline constexpr int kNumMethods = 7;
absl::string_view MethodName(Method method);

// Why work was turned away before it was queued.
enum class RejectReason { kQueueFull, kTokenizerFull, kDraining, kInvalid };
inline constexpr int kNumRejectReasons = 4;

// Everything that Attend tells Prometheus. All series exist from the start,
// with the value 0, so that a rate over a first event is right. Thread-safe;
// an observation takes a lock only of the series that it changes.
class Metrics {
 public:
  // `version` is that of the build.
  Metrics(const ModelInfo& model, absl::string_view version);
  ~Metrics();

  // A call has ended; `duration` is from its arrival to its end.
  void OnCall(Method method, absl::StatusCode code, absl::Duration duration);
  // An input was turned away.
  void OnRejected(RejectReason reason);
  // A request has ended: its times and tokens, as far as it came.
  void OnRequest(const RequestTimes& times, int source_tokens,
                 int generated_tokens);
  // Time between two outputs of one running generation.
  void OnInterToken(absl::Duration gap);
  void OnStep(const StepReport& report);
  // A call was cancelled since its client did not read.
  void OnSlowReader();

  // The text exposition format; also reads the process's own figures.
  std::string Serialize() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_METRICS_H_
