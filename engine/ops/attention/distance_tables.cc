#include "engine/ops/attention/distance_tables.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "engine/tensor/check.h"

namespace attend {
namespace {

// An odd number of cache lines: the rows of a column lie in different sets of
// the cache.
int StrideOf(int entries) {
  constexpr int kLine = 16;
  const int lines = (entries + kLine - 1) / kLine;
  return (lines + (lines % 2 == 0 ? 1 : 0)) * kLine;
}

// Rounded to nearest, ties to even. The values are finite.
uint16_t ToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

DistanceTables::DistanceTables(const Shape& shape, absl::Span<const int> rows,
                               const std::optional<ConstMatrix>& keys,
                               const std::optional<ConstMatrix>& queries) {
  ATTEND_CHECK(rows.size() % 2 == 1);
  ATTEND_CHECK(!shape.paired || shape.head_dim % 2 == 0);
  products_.max_distance = static_cast<int>(rows.size() / 2);
  products_.stride = StrideOf(products_.Entries());
  products_.paired = shape.paired;
  keys_ = Pack(shape, rows, keys);
  queries_ = Pack(shape, rows, queries);
}

DistanceProducts DistanceTables::products() const {
  DistanceProducts products = products_;
  if (keys_.size() > 0) products.keys = keys_.data();
  if (queries_.size() > 0) products.queries = queries_.data();
  return products;
}

Buffer<std::byte> DistanceTables::Pack(
    const Shape& shape, absl::Span<const int> rows,
    const std::optional<ConstMatrix>& vectors) const {
  if (!vectors) return {};
  const int width = shape.heads * shape.head_dim;
  ATTEND_CHECK(vectors->cols == width);
  const size_t stride = products_.stride;
  const size_t bytes = shape.paired ? sizeof(uint16_t) : sizeof(float);
  Buffer<std::byte> packed(width * stride * bytes);
  std::fill_n(packed.data(), packed.size(), std::byte{0});
  const int max = products_.max_distance;
  for (int entry = 0; entry < products_.Entries(); ++entry) {
    const int distance = std::clamp(entry - products_.Edge(), -max, max);
    const float* const vector = vectors->row(rows[distance + max]);
    for (int d = 0; d < width; ++d) {
      if (shape.paired) {
        const uint16_t rounded = ToBf16(vector[d]);
        const size_t at = (d / 2 * stride + entry) * 2 + d % 2;
        std::memcpy(packed.data() + at * bytes, &rounded, bytes);
      } else {
        std::memcpy(packed.data() + (d * stride + entry) * bytes, vector + d,
                    bytes);
      }
    }
  }
  return packed;
}

}  // namespace attend
