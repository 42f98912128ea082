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
  // When the request was admitted, or when it began to wait; needed if there
  // are several tenants.
  absl::Time since = {};
  Work work;
  // The blocks that the request held and wanted when it was last preempted. The
  // request is admitted again only when this many blocks are free. 0: it was
  // never preempted.
  int blocks_when_preempted = 0;
  // The most blocks that it holds at once; needed if there are several tenants.
  int max_blocks = 0;
  // Of a running request. Needed if memory is short, if there are several
  // tenants, or if `blocks_when_preempted` is set.
  int held_blocks = 0;
  int held_encode_rows = 0;  // of a running request
  // Of a running request: the number of its last piece, counting all pieces.
  int64_t last_piece = 0;
  // Of a running request: it has decoded before.
  bool has_decoded = false;
};

// The priority plus one for each `aging` that a request has waited. Computed in
// plain integers, because every step computes it for all waiting requests.
inline int64_t LevelOf(const RequestView& view, absl::Time now,
                       int64_t aging_microseconds) {
  const int64_t waited = absl::ToInt64Microseconds(now - view.arrival);
  return view.priority + std::max<int64_t>(waited, 0) / aging_microseconds;
}

// The time from which on a waiting request that does not fit may not be
// overtaken.
inline absl::Time NextSince(const RequestView& view, absl::Duration aging) {
  return view.blocks_when_preempted > 0 ? view.since : view.arrival + aging;
}

// See TenantLedger.
struct TenantView {
  int weight = 1;
  int max_running = Tenant::kNoLimit;  // requests of it that run at once
  // Seconds of work that the tenant got, divided by its weight. The tenant with
  // the least is admitted first.
  double served = 0;
  // Seconds of work that the tenant may get in steps of its own before the next
  // joint step.
  double owed = 0;
};

struct MemoryView {
  int free_blocks = 0;
  int free_encode_rows = 0;
  // All blocks and rows, free or not; needed if there are several tenants.
  int total_blocks = 0;
  int total_encode_rows = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_VIEWS_H_
