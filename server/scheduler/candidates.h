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

  // True if this one comes after the other of its tenant.
  bool operator<(const Candidate& other) const {
    return level != other.level ? level < other.level : order > other.order;
  }
};

// The order in which candidates are served: next is always one of the tenant
// that was served least, counting what it gets now; within a tenant the order
// is (level, arrival). Of tenants that were served alike, the one that runs
// less is next, then the one whose first candidate came first. Only the first
// few are taken of many, so nothing is sorted.
class Candidates {
 public:
  void Reserve(int requests, int tenants);

  void Clear() { all_.clear(); }
  void Add(const Candidate& candidate) { all_.push_back(candidate); }
  // Call after the last Add(). `running` has the number of running requests of
  // each tenant.
  void Arrange(absl::Span<const TenantView> tenants,
               absl::Span<const int> running);

  bool empty() const { return left_ == 0; }
  // Takes the next one; there must be one.
  Candidate Pop();
  // Those of the last one's tenant that wait are left out.
  void DropWaiting();
  // The tenant of the last one gets work of so many seconds.
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
