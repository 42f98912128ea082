#include "engine/checkpoint/torch/pickle_reader.h"

#include <algorithm>
#include <cstddef>

#include "engine/checkpoint/torch/pickle_machine.h"

namespace attend {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;

}  // namespace

absl::StatusOr<PickleValues> ReadPickle(const std::string& place,
                                        absl::Span<const uint8_t> bytes) {
  return PickleMachine(place, bytes.first(std::min(bytes.size(), kMaxBytes)))
      .Run();
}

}  // namespace attend
