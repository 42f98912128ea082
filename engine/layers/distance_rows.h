#ifndef ATTEND_ENGINE_LAYERS_DISTANCE_ROWS_H_
#define ATTEND_ENGINE_LAYERS_DISTANCE_ROWS_H_

#include <vector>

namespace attend {

// Which vector of a table of 2 * `side` vectors belongs to a distance (He et
// al. 2021, section 3.1). The nearest distances have a vector of their own;
// with max_distance, those from side / 2 on share vectors in ever wider ranges,
// up to max_distance. The first vectors are for keys after the query.
struct DistanceRows {
  int side = 0;          // at least 1; with max_distance at least 4
  int max_distance = 0;  // 0: each distance has a vector; else > side / 2 + 1

  // The row of `distance` = key's position - query's, in [0, 2 * side).
  int Of(int distance) const;
  // The rows of the distances [-n, n], with the smallest n for which all
  // further distances are like n and -n, or with `limit` if that is less.
  std::vector<int> Table(int limit) const;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_DISTANCE_ROWS_H_
