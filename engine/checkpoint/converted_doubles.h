#ifndef ATTEND_ENGINE_CHECKPOINT_CONVERTED_DOUBLES_H_
#define ATTEND_ENGINE_CHECKPOINT_CONVERTED_DOUBLES_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "absl/types/span.h"

namespace attend {

// Tensors that a file stores in f64, as f32: each is converted when it is first
// asked for, and kept. Few models have any, so that they are no StorageType.
// Any thread may call any method.
class ConvertedDoubles {
 public:
  // The bytes of the values as f32, rounded to the nearest; `doubles`, at any
  // alignment, must not change. Valid as long as this exists.
  absl::Span<const uint8_t> AsFloats(absl::Span<const uint8_t> doubles);

  // Returns true if `bytes` came from AsFloats().
  bool Has(absl::Span<const uint8_t> bytes) const;

 private:
  mutable std::mutex mutex_;
  std::map<const uint8_t*, std::vector<float>> values_;  // guarded by mutex_
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_CONVERTED_DOUBLES_H_
