#ifndef ATTEND_SERVER_SERVICE_VECTOR_ROOM_H_
#define ATTEND_SERVER_SERVICE_VECTOR_ROOM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace attend {

// Limits the vectors of tokens of one call, which are held until the answer:
// 256 MiB of floats.
class VectorRoom {
 public:
  static constexpr int64_t kMaxValues = (int64_t{256} << 20) / sizeof(float);

  // Counts the numbers of one more input. INVALID_ARGUMENT if all inputs so far
  // have more than kMaxValues.
  absl::Status Take(int64_t values, absl::string_view field, int index) {
    if (values_ + values > kMaxValues) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s[%d]: the vectors of the tokens up to this input have %d numbers, "
          "limit of a call is %d",
          field, index, values_ + values, kMaxValues));
    }
    values_ += values;
    return absl::OkStatus();
  }

 private:
  int64_t values_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_VECTOR_ROOM_H_
