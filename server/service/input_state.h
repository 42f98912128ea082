#ifndef ATTEND_SERVER_SERVICE_INPUT_STATE_H_
#define ATTEND_SERVER_SERVICE_INPUT_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/scheduler/request.h"
#include "server/service/call_context.h"
#include "server/service/handler.h"
#include "server/service/service.h"

namespace attend {

// What is known of an input before it runs.
struct InputFacts {
  int source_tokens = 0;
  bool truncated = false;
  bool sampled = false;
  uint64_t seed = 0;  // that is used, if sampled
};

// Room that the longest output of an input takes.
struct OutputLimits {
  int choices = 1;
  int tokens = 0;  // of a choice
  bool log_probs = false;
  int top_log_probs = 0;
  int prompt_tokens = 0;  // whose log-probabilities are wanted
  size_t values = 0;
};

// One input of a call, from its submission to its end: the place where the
// engine's worker leaves output for the call's thread. The worker only copies
// into memory that was reserved beforehand. Destroyed only once done().
class InputState final : public RequestListener {
 public:
  // All outlive this. With `streaming` output is handed over as it grows.
  InputState(const ServedModel& model, const Clock& clock, CallContext& context,
             bool streaming)
      : model_(model),
        clock_(clock),
        context_(context),
        streaming_(streaming) {}

  // Submits the input; what is refused ends at once with its status.
  void Submit(EngineRequest request, const InputFacts& facts,
              const OutputLimits& limits, int priority);
  // Ends an input that was not submitted.
  void End(const absl::Status& status, SequenceOutput output = {});
  // The same, of one that is turned away, which is counted.
  void Reject(const absl::Status& status);

  // These are constant after Submit().
  const InputFacts& facts() const { return facts_; }

  // These with context.mutex() held. The output's prompt is there before the
  // first token, and then constant.
  bool done() const { return done_; }
  const SequenceOutput& output() const { return output_; }
  // OK, or why the input failed; UNAVAILABLE if the server cut it off.
  absl::Status status() const;
  const RequestTimes& times() const { return times_; }

  bool cancelled() const override { return context_.cancelled(); }
  void OnOutput(const SequenceOutput& output,
                const RequestTimes& times) override;
  void OnDone(const absl::Status& status, const SequenceOutput& output,
              const RequestTimes& times) override;

 private:
  void ObserveGap(const SequenceOutput& output);

  const ServedModel& model_;
  const Clock& clock_;
  CallContext& context_;
  const bool streaming_;
  InputFacts facts_;

  // The worker's own.
  size_t tokens_seen_ = 0;
  absl::Time last_output_ = absl::InfinitePast();

  // Guarded by context_.mutex().
  SequenceOutput output_;
  RequestTimes times_;
  absl::Status status_;
  bool done_ = false;
};

// Tokens of all choices.
int CountTokens(const SequenceOutput& output);

// The inputs of a call. All with context.mutex() held.
using Inputs = std::vector<std::unique_ptr<InputState>>;
bool AllDone(const Inputs& inputs);
// An error iff all inputs are done and failed with one code: then the call
// itself fails, with the first one's status.
absl::Status CommonError(const Inputs& inputs);
CallSummary Summarize(const Inputs& inputs);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_INPUT_STATE_H_
