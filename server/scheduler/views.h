#ifndef ATTEND_SERVER_SCHEDULER_VIEWS_H_
#define ATTEND_SERVER_SCHEDULER_VIEWS_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"
#include "engine/api/engine.h"
#include "server/scheduler/request.h"

namespace attend {

// What the batcher sees of requests, tenants and memory.

struct RequestView {
  int64_t order = 0;  // of arrival; unique
  int tenant = 0;     // index of its TenantView
  int priority = 0;   // higher is served first
  absl::Time arrival;
  // When it was admitted, or when it began to wait; needed if several tenants
  // are there.
  absl::Time since = {};
  Work work;
  // The blocks that the request held and wanted when it was last preempted; it
  // is admitted again only when so many are free. 0: it was never preempted.
  int blocks_when_preempted = 0;
  // The most that it holds at once; needed if several tenants are there.
  int max_blocks = 0;
  // Of a running request; needed when memory is short, if several tenants are
  // there, or if `blocks_when_preempted` is set.
  int held_blocks = 0;
  int held_encode_rows = 0;  // of a running request
  // Of a running request: the number of its last piece, counting all pieces.
  int64_t last_piece = 0;
};

// The priority plus one for each `aging` that a request has waited. In plain
// integers: this is asked for all who wait, in every step.
inline int64_t LevelOf(const RequestView& view, absl::Time now,
                       int64_t aging_microseconds) {
  const int64_t waited = absl::ToInt64Microseconds(now - view.arrival);
  return view.priority + std::max<int64_t>(waited, 0) / aging_microseconds;
}

// From when on a waiting request that does not fit may not be overtaken.
inline absl::Time NextSince(const RequestView& view, absl::Duration aging) {
  return view.blocks_when_preempted > 0 ? view.since : view.arrival + aging;
}

// See TenantLedger.
struct TenantView {
  int weight = 1;
  int max_running = Tenant::kNoLimit;  // requests of it that run at once
  // Seconds of work that it got, divided by its weight. Who has least is
  // admitted first.
  double served = 0;
  // Seconds of work that it may get in steps of its own before the next step
  // of all tenants.
  double owed = 0;
};

struct MemoryView {
  int free_blocks = 0;
  int free_encode_rows = 0;
  // All there are; needed if several tenants are there.
  int total_blocks = 0;
  int total_encode_rows = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_VIEWS_H_
