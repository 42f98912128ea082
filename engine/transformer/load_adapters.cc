#include "engine/transformer/load_adapters.h"

#include <cstddef>
#include <utility>

#include "engine/layers/adapters.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/status_macros.h"
#include "engine/tensor/stored_rows.h"

namespace attend {
namespace {

// scale * the transpose of each of `count` matrices [rows, cols].
Buffer<float> Turned(const Buffer<float>& matrices, int count, int rows,
                     int cols, float scale) {
  Buffer<float> turned(matrices.size());
  const float* from = matrices.data();
  for (int i = 0; i < count; ++i) {
    float* const to = turned.data() + static_cast<size_t>(i) * rows * cols;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        to[static_cast<size_t>(c) * rows + r] = scale * *from++;
      }
    }
  }
  return turned;
}

}  // namespace

absl::Status LoadAdapters(Primitives& primitives, Weights& weights,
                          const std::string& slot, const LoadOptions& options,
                          Linear& linear) {
  const std::string down_slot = slot + ".adapters.down";
  if (!options.adapters || !weights.Lists(down_slot)) return absl::OkStatus();
  const auto [count, rank, scale] = *options.adapters;
  ASSIGN_OR_RETURN(const Buffer<float> down,
                   weights.Read(down_slot, {count, rank, linear.in()}));
  ASSIGN_OR_RETURN(
      const Buffer<float> up,
      weights.Read(slot + ".adapters.up", {count, linear.out(), rank}));
  const StoredRows rows(ConstMatrix(down.data(), count * rank, linear.in()));
  ASSIGN_OR_RETURN(
      Adapters adapters,
      Adapters::Create(primitives, options.dtype, rows,
                       Turned(up, count, linear.out(), rank, scale), rank,
                       options.max_rows));
  linear.SetAdapters(std::move(adapters));
  return absl::OkStatus();
}

absl::StatusOr<TableAdapters> LoadTableAdapters(Weights& weights,
                                                const std::string& slot,
                                                int entries, int width,
                                                const LoadOptions& options) {
  const std::string down_slot = slot + ".adapters.down";
  if (!options.adapters || !weights.Lists(down_slot)) return TableAdapters();
  const auto [count, rank, scale] = *options.adapters;
  ASSIGN_OR_RETURN(Buffer<float> left,
                   weights.Read(down_slot, {count, entries, rank}));
  ASSIGN_OR_RETURN(Buffer<float> right,
                   weights.Read(slot + ".adapters.up", {count, rank, width}));
  for (size_t i = 0; i < right.size(); ++i) right[i] *= scale;
  return TableAdapters(std::move(left), std::move(right), entries, rank);
}

}  // namespace attend
