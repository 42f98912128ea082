#include "server/service/input_window.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace attend {
namespace {

// A token's id, type, position and origin, here and in the engine.
constexpr size_t kTokenBytes = 32;
// An alternative, with its piece, in the answer.
constexpr size_t kTopBytes = 64;

size_t BytesOf(const WaitingInput& input) {
  const OutputLimits& limits = input.limits;
  return Service::kInputBytes + kTokenBytes * input.facts.source_tokens +
         sizeof(float) * limits.values +
         kTopBytes * limits.choices * limits.top_log_probs;
}

}  // namespace

absl::Status InputWindow::Add(Inputs& inputs, int index, int running,
                              WaitingInput input, absl::string_view field) {
  const size_t bytes = bytes_ + BytesOf(input);
  if (bytes > service_.max_call_bytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: the inputs up to this one and their results take %d bytes, limit "
        "of a call is %d (max_call_bytes)",
        field, bytes, service_.max_call_bytes));
  }
  bytes_ = bytes;
  if (waiting_.empty()) waiting_.resize(inputs.size());
  waiting_[index] = std::make_unique<WaitingInput>(std::move(input));
  Submit(inputs, index + 1, running);
  return absl::OkStatus();
}

void InputWindow::Submit(Inputs& inputs, int end, int running) {
  if (waiting_.empty()) return;
  for (; next_ < end; ++next_) {
    if (waiting_[next_] == nullptr) continue;  // it has ended
    if (running >= service_.max_batch_inputs) return;
    if (!SubmitNext(*inputs[next_], running > 0)) return;
    waiting_[next_].reset();
    ++running;
  }
}

bool InputWindow::SubmitNext(InputState& state, bool others_run) {
  WaitingInput& input = *waiting_[next_];
  if (!prepared_ && !state.Prepare(std::move(input.request), input.facts,
                                   input.limits, input.priority)) {
    return true;
  }
  const absl::Status status = state.TrySubmit();
  prepared_ = absl::IsResourceExhausted(status) && others_run;
  if (prepared_) return false;
  if (!status.ok()) state.Reject(status);
  return true;
}

}  // namespace attend
