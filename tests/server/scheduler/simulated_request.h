#ifndef ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_REQUEST_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_REQUEST_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/str_format.h"
#include "server/scheduler/request.h"
#include "tests/server/scheduler/scenario.h"
#include "tests/server/scheduler/simulated_engine.h"

namespace attend {

// What the simulation knows of a request, by what the engine was asked to
// compute and what the listener was told: never by what the scheduler says.
class SimulatedRequest final : public RequestListener {
 public:
  enum class State { kWaiting, kRunning, kDone };

  SimulatedRequest(const ScenarioEvent& event, Complaint& complaint)
      : event_(event), complaint_(complaint) {}

  bool cancelled() const override { return is_cancelled; }
  void OnOutput(const SequenceOutput& output, const RequestTimes&) override {
    const int tokens = static_cast<int>(output.choices[0].tokens.size());
    if (state == State::kDone) Complain("has output after its answer");
    if (tokens <= told_tokens && !output.finished) {
      Complain("has output that did not grow");
    }
    told_tokens = tokens;
  }
  void OnDone(const absl::Status& status, const SequenceOutput& output,
              const RequestTimes&) override {
    if (state == State::kDone) Complain("is answered twice");
    state = State::kDone;
    answer = status.code();
    sequence = nullptr;
    const int tokens = static_cast<int>(output.choices[0].tokens.size());
    if (status.ok() && tokens != event_.task.tokens) {
      Complain(absl::StrFormat("ends with %d of %d tokens", tokens,
                               event_.task.tokens));
    }
  }

  // How it must be answered by a sweep at `now`; nullopt: not yet.
  std::optional<absl::StatusCode> Verdict(absl::Time now) const {
    if (is_cancelled) return absl::StatusCode::kCancelled;
    if (deadline <= now) return absl::StatusCode::kDeadlineExceeded;
    if (sequence->Next().phase == Phase::kDone) return absl::StatusCode::kOk;
    return std::nullopt;
  }

  // The listener knows all of the output.
  void CheckTold() {
    if (sequence == nullptr) return;
    if (sequence->output().choices[0].tokens.size() !=
        static_cast<size_t>(told_tokens)) {
      Complain("has output that nobody was told of");
    }
  }

  void Complain(const std::string& what) {
    complaint_.Add(absl::StrFormat("request %d %s", event_.request, what));
  }

  int number() const { return event_.request; }
  int tenant() const { return event_.tenant; }
  // Tokens that the queue counts.
  int queued_tokens() const { return event_.task.source + event_.task.prompt; }
  // The most steps that it takes alone.
  int64_t work() const {
    return int64_t{1} + event_.task.source + event_.task.prompt +
           event_.task.tokens;
  }

  State state = State::kWaiting;
  SimulatedSequence* sequence = nullptr;  // null when it is done
  bool is_cancelled = false;
  bool started = false;  // its first piece was planned
  int told_tokens = 0;   // that the listener knows
  absl::StatusCode answer = absl::StatusCode::kUnknown;
  absl::Time arrival;
  absl::Time deadline = absl::InfiniteFuture();
  // When it came: the steps, and the work of those who had ended.
  int64_t steps_before = 0;
  int64_t ended_before = 0;
  // What has to become of it in this stage of the step.
  std::optional<absl::StatusCode> expected;

 private:
  const ScenarioEvent event_;
  Complaint& complaint_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_REQUEST_H_
