#ifndef ATTEND_SERVER_SCHEDULER_CANDIDATES_H_
#define ATTEND_SERVER_SCHEDULER_CANDIDATES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/scheduler/views.h"

namespace attend {

// A request that may get rows of encodes or prompts.
struct Candidate {
  int tenant = 0;
  int64_t level = 0;  // see LevelOf()
  int64_t order = 0;  // of arrival
  int index = 0;      // of its view
  bool is_waiting = false;
  int rows = 0;  // given so far

  // True if this candidate comes after `other`, a candidate of the same tenant.
  bool operator<(const Candidate& other) const {
    return level != other.level ? level < other.level : order > other.order;
  }
};

// The order in which candidates are served. The next candidate is always of the
// tenant that was served least; what a tenant gets in this step counts. Among
// tenants that were served alike, the tenant with fewer running requests is
// next, then the tenant whose first candidate came first. Within a tenant the
// order is (level, arrival). Only the first few of many candidates are taken,
// so candidates are not sorted.
class Candidates {
 public:
  void Reserve(int requests, int tenants);

  void Clear() { all_.clear(); }
  void Add(const Candidate& candidate) { all_.push_back(candidate); }
  // To be called after the last Add(). `running`: the number of running
  // requests of each tenant.
  void Arrange(absl::Span<const TenantView> tenants,
               absl::Span<const int> running);

  bool empty() const { return left_ == 0; }
  // Takes the next candidate; there must be one.
  Candidate Pop();
  // Leaves out all waiting candidates of the tenant whose candidate was taken
  // last.
  void DropWaiting();
  // The tenant whose candidate was taken last gets work of this many seconds.
  void Charge(double seconds);

 private:
  // The candidates of a tenant: a heap in grouped_.
  struct Group {
    double served = 0;
    int weight = 1;
    int running = 0;
    int64_t order = 0;  // of its candidate that came first
    size_t begin = 0;
    size_t end = 0;

    // True if this one comes after the other.
    bool operator<(const Group& other) const;
  };

  std::vector<Candidate> all_;
  std::vector<Candidate> grouped_;  // the same, by tenant
  std::vector<size_t> ends_;        // [tenant]: of its part of grouped_
  std::vector<Group> groups_;       // a heap, but for the current one
  bool has_current_ = false;        // the last of groups_ is not in the heap
  size_t left_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_CANDIDATES_H_
