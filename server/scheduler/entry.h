#ifndef ATTEND_SERVER_SCHEDULER_ENTRY_H_
#define ATTEND_SERVER_SCHEDULER_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"
#include "server/scheduler/request.h"
#include "server/scheduler/views.h"

namespace attend {

// A request in the lists of a worker, and what the worker knows about the
// request. Owns the request; null after the request has ended. Used on the
// worker's thread only.
struct Entry {
  // Why the request must end now; OK if it may go on.
  absl::Status Verdict(absl::Time now) const;
  // What the batcher sees of the request. Counting the blocks that the request
  // holds takes time: without `with_blocks` their number is given as 0.
  RequestView View(bool with_blocks) const;
  // The step of its piece, of so many rows of so many requests, has ended: asks
  // for the next work, and notes in the request's times what came to its end.
  void FinishPiece(int rows, int inputs, absl::Time now);
  // True if the output has grown since the last call.
  bool HasNewOutput();

  std::unique_ptr<Request> request;
  int64_t order = 0;              // of arrival
  int tenant = 0;                 // in the ledger
  absl::Time since;               // when it began to wait or to run
  Work work;                      // sequence->Next(), asked once a step
  int blocks_when_preempted = 0;  // see RequestView
  int max_blocks = 0;             // of the sequence
  int encode_rows = 0;            // that it holds while it encodes
  int64_t last_piece = 0;
  size_t delivered = 0;        // size of the output that the listener knows
  Phase piece = Phase::kDone;  // phase of its piece in this step, or kDone
  int piece_number = 0;        // in the plan, if it has a piece
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_ENTRY_H_
