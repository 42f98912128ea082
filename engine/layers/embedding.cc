#include "engine/layers/embedding.h"

#include <cmath>
#include <utility>

namespace attend {
namespace {

Buffer<float> Sinusoids(int max_positions, int hidden) {
  Buffer<float> table(static_cast<size_t>(max_positions) * hidden);
  const int sines = (hidden + 1) / 2;
  for (int position = 0; position < max_positions; ++position) {
    float* row = table.data() + static_cast<size_t>(position) * hidden;
    for (int j = 0; j < hidden; ++j) {
      const double exponent = 2.0 * (j / 2) / hidden;
      const double angle = position / std::pow(10000.0, exponent);
      // Column j of the paper: even ones are sines, odd ones cosines.
      if (j % 2 == 0) {
        row[j / 2] = static_cast<float>(std::sin(angle));
      } else {
        row[sines + j / 2] = static_cast<float>(std::cos(angle));
      }
    }
  }
  return table;
}

}  // namespace

Embedding::Embedding(Buffer<float> tokens, int hidden, float scale,
                     int max_positions)
    : tokens_(std::move(tokens)),
      positions_(Sinusoids(max_positions, hidden)),
      hidden_(hidden),
      scale_(scale) {}

void Embedding::Run(Compute& compute, absl::Span<const int> ids,
                    absl::Span<const int> positions, Matrix dst) const {
  // A row is a copy of a few hundred floats: below this many, waking the team
  // costs more than it saves.
  constexpr int kRowsWorthATeam = 64;
  const auto embed = [&](Range rows) {
    for (int r = rows.begin; r < rows.end; ++r) {
      const float* token =
          tokens_.data() + static_cast<size_t>(ids[r]) * hidden_;
      const float* position =
          positions_.data() + static_cast<size_t>(positions[r]) * hidden_;
      float* out = dst.row(r);
      for (int j = 0; j < hidden_; ++j) {
        out[j] = token[j] * scale_ + position[j];
      }
    }
  };
  const int rows = static_cast<int>(ids.size());
  if (rows < kRowsWorthATeam) return embed({0, rows});
  compute.team().Run(
      [&](int member) { embed(Share(rows, member, compute.team().size())); });
}

}  // namespace attend
