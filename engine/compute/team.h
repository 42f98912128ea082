#ifndef ATTEND_ENGINE_COMPUTE_TEAM_H_
#define ATTEND_ENGINE_COMPUTE_TEAM_H_

#include "absl/functional/function_ref.h"

namespace attend {

// A fixed set of threads that compute together. The caller of Run() is member
// 0; the others spin shortly for the next call and then sleep.
class Team {
 public:
  explicit Team(int size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const;

  // Calls work(member) once for each member in [0, size()), in parallel, and
  // returns when all have returned. Allocates nothing. One caller at a time.
  void Run(absl::FunctionRef<void(int member)> work);
};

// The part [begin, end) of `total` items that falls to `member` of `members`,
// in multiples of `grain` but for the last.
struct Range {
  int begin = 0;
  int end = 0;
};
Range Share(int total, int member, int members, int grain = 1);

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_TEAM_H_
