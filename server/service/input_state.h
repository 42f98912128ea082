#ifndef ATTEND_SERVER_SERVICE_INPUT_STATE_H_
#define ATTEND_SERVER_SERVICE_INPUT_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
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
  int prefix_tokens = 0;  // of the forced prefix, which is computed, too
  bool truncated = false;
  bool sampled = false;
  uint64_t seed = 0;  // if `sampled`: the seed of the samples
};

// The size of the longest output that an input may have. Memory for this output
// is reserved before the input runs.
struct OutputLimits {
  int choices = 1;
  int tokens = 0;  // of each choice
  bool log_probs = false;
  int top_log_probs = 0;
  int prompt_tokens = 0;  // tokens whose log-probabilities are wanted
  size_t values = 0;      // numbers of an encoder's output
};

// The progress of the inputs of a call. Guarded by the mutex of the call's
// context.
struct InputProgress {
  int running = 0;         // inputs that the worker may use
  std::vector<int> ended;  // inputs that have ended since Take()

  // Inputs that are started end without an allocation.
  void Reserve(size_t inputs) { ended.reserve(inputs); }
  // Moves the inputs that have ended into `to`, in ascending order. False:
  // there are none.
  bool Take(std::vector<int>& to);
};

// One input of a call, from submission to end. The worker copies the output of
// the input into the InputState; the call's thread reads the output there. The
// memory was reserved before, so the worker allocates nothing. May be destroyed
// when done() is true.
class InputState final : public RequestListener {
 public:
  // The arguments must outlive the InputState, which is input `index` of the
  // call. `streaming`: the output is handed over as it grows; otherwise when
  // the input has ended.
  InputState(const ServedModel& model, const Clock& clock, CallContext& context,
             InputProgress& progress, int index, bool streaming)
      : model_(model),
        clock_(clock),
        context_(context),
        progress_(progress),
        index_(index),
        streaming_(streaming) {}

  // Submits the input. An input that is refused ends at once; its status is the
  // reason. Exactly one of Submit(), Prepare(), End() and Reject() is called,
  // once.
  void Submit(EngineRequest request, const InputFacts& facts,
              const OutputLimits& limits, int priority);
  // Submit() in two halves. Prepare() makes all that the input needs; false: it
  // has ended. TrySubmit() may be called again while the scheduler has no room
  // (RESOURCE_EXHAUSTED); any other error is for Reject(). Neither throws where
  // there is no memory: what does not fit has ended, or finds no room.
  bool Prepare(EngineRequest request, const InputFacts& facts,
               const OutputLimits& limits, int priority);
  absl::Status TrySubmit();
  // Ends an input without submitting it. `status` and `output` are those of the
  // input.
  void End(const absl::Status& status, SequenceOutput output = {});
  // Ends an input that the server refuses, and counts the refusal in the
  // metrics.
  void Reject(const absl::Status& status);

  const CallContext& call() const { return context_; }
  // Constant after Submit().
  const InputFacts& facts() const { return facts_; }

  // The caller of the next four functions must hold context.mutex().
  // output().prompt is complete before the first token, and constant from then
  // on.
  bool done() const { return done_; }
  const SequenceOutput& output() const { return output_; }
  // Frees the values of an input that has ended, which were read: thousands of
  // inputs would have them twice. Needs no lock.
  void DropValues() { output_.values = {}; }
  // Frees the alignments of an input that has ended: they take more memory than
  // all the rest.
  void DropAlignments();
  // OK, or why the input failed. UNAVAILABLE if the server ended it because the
  // drain timeout had passed.
  absl::Status status() const;
  const RequestTimes& times() const { return times_; }

  bool cancelled() const override { return context_.cancelled(); }
  void OnOutput(const SequenceOutput& output,
                const RequestTimes& times) override;
  void OnDone(const absl::Status& status, const SequenceOutput& output,
              const RequestTimes& times) override;

 private:
  absl::Status MakeRequest(EngineRequest request, const OutputLimits& limits,
                           int priority);
  void ObserveGap(const SequenceOutput& output);
  // Counts the input among those that run, or no longer.
  void SetRunning(bool running);
  void AnnounceEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.mutex());

  const ServedModel& model_;
  const Clock& clock_;
  CallContext& context_;
  InputProgress& progress_;
  const int index_;
  const bool streaming_;
  InputFacts facts_;
  std::unique_ptr<Request> request_;  // prepared and not submitted

  // The worker's own.
  size_t tokens_seen_ = 0;
  absl::Time last_output_ = absl::InfinitePast();

  // Guarded by context_.mutex().
  SequenceOutput output_;
  RequestTimes times_;
  absl::Status status_;
  bool running_ = false;  // the worker may use the input
  bool done_ = false;
};

// The number of tokens of all choices together.
int CountTokens(const SequenceOutput& output);

// The inputs of a call. The caller of the functions below must hold the mutex
// of the call's context.
using Inputs = std::vector<std::unique_ptr<InputState>>;
bool AllDone(const Inputs& inputs);
// The status of the first input if all inputs have ended with the same error
// code, which makes the call itself fail. Otherwise OK.
absl::Status CommonError(const Inputs& inputs);
// The call's figures for its log line.
CallSummary Summarize(const Inputs& inputs);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_INPUT_STATE_H_
