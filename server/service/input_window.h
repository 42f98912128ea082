#ifndef ATTEND_SERVER_SERVICE_INPUT_WINDOW_H_
#define ATTEND_SERVER_SERVICE_INPUT_WINDOW_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/api/engine_request.h"
#include "server/service/input_state.h"
#include "server/service/service.h"

namespace attend {

// An input that was read, before it is submitted.
struct WaitingInput {
  EngineRequest request;
  InputFacts facts;
  OutputLimits limits;
  int priority = 0;
};

// Submits the inputs of a call that may have thousands. No more of them than
// max_batch_inputs wait or run in the scheduler at once; the others wait here,
// in the order of the call, and so do those for which the scheduler has no room
// while others of the call run. All inputs and results of the call together
// take at most max_call_bytes.
//
// Its functions are called by one thread at a time.
class InputWindow {
 public:
  // `service` must outlive the window.
  explicit InputWindow(const Service& service) : service_(service) {}

  // Submits input `index`, or lets it wait. `running` inputs of the call run.
  // Inputs are added in ascending order; those that are left out have ended.
  // INVALID_ARGUMENT, which names `field`, if the call would take too much
  // memory.
  absl::Status Add(Inputs& inputs, int index, int running, WaitingInput input,
                   absl::string_view field);
  // Submits those of the inputs before `end` for which there is room. To be
  // called when inputs have ended, after the last Add().
  void Submit(Inputs& inputs, int end, int running);

 private:
  // False: there is no room now.
  bool SubmitNext(InputState& state, bool others_run);

  const Service& service_;
  std::vector<std::unique_ptr<WaitingInput>> waiting_;  // by input
  size_t bytes_ = 0;       // of all inputs and results
  int next_ = 0;           // inputs before it were submitted or have ended
  bool prepared_ = false;  // input next_ is, and has found no room
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_INPUT_WINDOW_H_
