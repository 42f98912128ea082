#ifndef ATTEND_TESTS_SERVER_SCHEDULER_REQUEST_VIEWS_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_REQUEST_VIEWS_H_

#include <cstdint>
#include <ostream>

#include "absl/time/time.h"
#include "server/scheduler/batcher.h"

// Requests as the batcher sees them, what it is told besides, and what it says.
namespace attend {

inline const absl::Time kNow = absl::FromUnixSeconds(1000);
inline constexpr MemoryView kPlenty = {.free_blocks = 1 << 20,
                                       .free_encode_rows = 1 << 20,
                                       .total_blocks = 1 << 20,
                                       .total_encode_rows = 1 << 20};

inline RequestView Newcomer(int64_t order, int rows) {
  return {.order = order,
          .arrival = kNow,
          .work = {.phase = Phase::kEncode,
                   .rows = rows,
                   .blocks = (rows + 3) / 4,
                   .encode_rows = rows}};
}

inline RequestView Encoding(int64_t order, int rows) {
  return {.order = order,
          .arrival = kNow,
          .work = {.phase = Phase::kEncode, .rows = rows}};
}

inline RequestView Decoding(int64_t order, int rows = 1, int blocks = 0,
                            int held_blocks = 0) {
  return {.order = order,
          .arrival = kNow,
          .work = {.phase = Phase::kDecode, .rows = rows, .blocks = blocks},
          .held_blocks = held_blocks,
          .has_decoded = true};
}

// In this namespace, so that gtest finds them.
inline bool operator==(const Decision::Rows& a, const Decision::Rows& b) {
  return a.index == b.index && a.rows == b.rows;
}
inline void PrintTo(const Decision::Rows& rows, std::ostream* os) {
  *os << "{" << rows.index << ", " << rows.rows << " rows}";
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_REQUEST_VIEWS_H_
