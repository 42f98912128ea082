#include "engine/layers/embedding.h"

#include <algorithm>
#include <cmath>

#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Row p of pair i: the sine of p * frequency(i), and half a row on its cosine.
template <typename Frequency>
Buffer<float> SinesAndCosines(int rows, int width, Frequency frequency) {
  Buffer<float> table(static_cast<size_t>(rows) * width);
  const int sines = (width + 1) / 2;
  for (int p = 0; p < rows; ++p) {
    float* row = table.data() + static_cast<size_t>(p) * width;
    for (int i = 0; i < sines; ++i) {
      const double angle = p * frequency(i);
      row[i] = static_cast<float>(std::sin(angle));
      if (sines + i < width)
        row[sines + i] = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

// Adds row `index` of a table.
inline void AddRow(const Buffer<float>& table, int index, int width,
                   float* out) {
  const float* row = table.data() + static_cast<size_t>(index) * width;
  for (int j = 0; j < width; ++j) out[j] += row[j];
}

}  // namespace

Buffer<float> Sinusoids(int rows, int width) {
  return SinesAndCosines(rows, width, [&](int i) {
    return 1 / std::pow(10000.0, 2.0 * i / width);
  });
}

Buffer<float> SinusoidsToEnd(int rows, int width, int zero_row) {
  Buffer<float> table = SinesAndCosines(rows, width, [&](int i) {
    return std::pow(10000.0, -i / (width / 2 - 1.0));
  });
  if (zero_row >= 0 && zero_row < rows) {
    std::fill_n(table.data() + static_cast<size_t>(zero_row) * width, width,
                0.0f);
  }
  return table;
}

void Embedding::Sum(Compute& compute, const Rows& rows, Matrix dst) const {
  // A row is a copy of a few hundred floats: below this many, waking the team
  // costs more than it saves.
  constexpr int kRowsWorthATeam = 64;
  const int width = tables_.width;
  const auto sum = [&](Range range) {
    for (int r = range.begin; r < range.end; ++r) {
      const float* token =
          tables_.tokens.data() + static_cast<size_t>(rows.ids[r]) * width;
      float* out = dst.row(r);
      for (int j = 0; j < width; ++j) out[j] = token[j] * tables_.scale;
      if (tables_.types.size() > 0) {
        AddRow(tables_.types, rows.types.empty() ? 0 : rows.types[r], width,
               out);
      }
      if (tables_.positions.size() > 0) {
        AddRow(tables_.positions, rows.positions[r] + tables_.position_offset,
               width, out);
      }
    }
  };
  const int count = static_cast<int>(rows.ids.size());
  if (count < kRowsWorthATeam) return sum({0, count});
  compute.team().Run(
      [&](int member) { sum(Share(count, member, compute.team().size())); });
}

absl::Status Embedding::Run(Compute& compute, const Rows& rows, Matrix narrow,
                            const Operand& narrow_operand, Matrix dst) const {
  const Matrix summed = projected() ? narrow : dst;
  Sum(compute, rows, summed);
  if (norm_) norm_->Run(compute, summed, summed, {});
  if (!projected()) return absl::OkStatus();
  MakeOperand(compute, narrow, narrow_operand);
  return projection_->Run(compute, narrow_operand, dst);
}

}  // namespace attend
