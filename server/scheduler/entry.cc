#include "server/scheduler/entry.h"

namespace attend {
namespace {

// A number that grows with each step that adds to the output.
size_t OutputSize(const SequenceOutput& output) {
  size_t size = output.finished ? 1 : 0;
  for (const ChoiceOutput& choice : output.choices) {
    size += choice.tokens.size() + choice.log_probs.size();
  }
  return size;
}

}  // namespace

absl::Status Entry::Verdict(absl::Time now) const {
  const bool started = request->times.started != absl::InfinitePast();
  if (request->listener->cancelled()) {
    return absl::CancelledError("request was cancelled");
  }
  if (request->deadline <= now) {
    return absl::DeadlineExceededError(started
                                           ? "deadline passed while running"
                                           : "deadline passed in the queue");
  }
  return absl::OkStatus();
}

RequestView Entry::View(bool with_blocks) const {
  return {.order = order,
          .tenant = tenant,
          .priority = request->priority,
          .arrival = request->times.arrival,
          .since = since,
          .work = work,
          .blocks_when_preempted = blocks_when_preempted,
          .max_blocks = max_blocks,
          .held_blocks = with_blocks ? request->sequence->blocks() : 0,
          .held_encode_rows = work.phase == Phase::kEncode ? encode_rows : 0,
          .last_piece = last_piece,
          .has_decoded = request->times.decode.steps > 0};
}

void Entry::FinishPiece(int rows, int inputs, absl::Time now) {
  RequestTimes& times = request->times;
  const bool replays = times.decode.steps > 0;
  const auto ends = [&](Phase phase, absl::Time known) {
    return piece == phase && work.phase != phase &&
           known == absl::InfinitePast();
  };
  PhaseSteps& phase = piece == Phase::kDecode || replays ? times.decode
                      : piece == Phase::kEncode          ? times.encode
                                                         : times.prompt;
  ++phase.steps;
  phase.rows += rows;
  phase.inputs += inputs;
  work = request->sequence->Next();
  if (ends(Phase::kEncode, times.encoded)) times.encoded = now;
  if (!replays && ends(Phase::kPrompt, times.prompted)) times.prompted = now;
  piece = Phase::kDone;
}

bool Entry::HasNewOutput() {
  const size_t size = OutputSize(request->sequence->output());
  if (size <= delivered) return false;
  delivered = size;
  return true;
}

}  // namespace attend
