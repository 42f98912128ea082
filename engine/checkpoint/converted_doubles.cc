#include "engine/checkpoint/converted_doubles.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace attend {
namespace {

absl::Span<const uint8_t> BytesOf(const std::vector<float>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()),
          values.size() * sizeof(float)};
}

}  // namespace

absl::Span<const uint8_t> ConvertedDoubles::AsFloats(
    absl::Span<const uint8_t> doubles) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [at, added] = values_.try_emplace(doubles.data());
  std::vector<float>& values = at->second;
  if (!added) return BytesOf(values);
  values.resize(doubles.size() / sizeof(double));
  for (size_t i = 0; i < values.size(); ++i) {
    double value;
    std::memcpy(&value, doubles.data() + i * sizeof(double), sizeof(double));
    values[i] = static_cast<float>(value);
  }
  return BytesOf(values);
}

bool ConvertedDoubles::Has(absl::Span<const uint8_t> bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(values_.begin(), values_.end(), [&](const auto& entry) {
    const absl::Span<const uint8_t> own = BytesOf(entry.second);
    return bytes.data() >= own.data() && bytes.data() < own.data() + own.size();
  });
}

}  // namespace attend
