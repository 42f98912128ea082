#ifndef ATTEND_SERVER_SERVICE_EMBEDDING_VALUES_H_
#define ATTEND_SERVER_SERVICE_EMBEDDING_VALUES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"

namespace attend {

static_assert(std::endian::native == std::endian::little);

// The upper half of the bits, rounded to nearest, ties to even. Infinity and
// NaN stay what they are.
inline uint16_t ToBfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000) == 0x7f800000) {
    const bool is_nan = (bits & 0x007fffff) != 0;
    return static_cast<uint16_t>(bits >> 16 | (is_nan ? 0x40 : 0));
  }
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Puts numbers into a result, in the form that a request asks for. `Result` has
// the fields `values` and `data`.
template <class Result>
void SetValues(absl::Span<const float> values, v1::EmbeddingEncoding encoding,
               Result& result) {
  std::string& data = *result.mutable_data();
  switch (encoding) {
    case v1::EMBEDDING_FLOAT32:
      data.assign(reinterpret_cast<const char*>(values.data()),
                  values.size() * sizeof(float));
      return;
    case v1::EMBEDDING_BFLOAT16:
      data.resize(values.size() * sizeof(uint16_t));
      for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t bits = ToBfloat16(values[i]);
        std::memcpy(&data[i * sizeof(bits)], &bits, sizeof(bits));
      }
      return;
    default:
      result.mutable_values()->Add(values.begin(), values.end());
  }
}

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_EMBEDDING_VALUES_H_
