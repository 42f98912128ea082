#include "engine/layers/embedding.h"

#include <algorithm>
#include <cmath>

#include "engine/compute/op_timer.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Row p has the sine of p * frequency(i) in column i, and the cosine half a row
// later.
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

int AdapterOf(const Embedding::Rows& rows, int row) {
  return rows.adapters.empty() ? -1 : rows.adapters[row];
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

void Embedding::ForRows(Compute& compute, int rows,
                        absl::FunctionRef<void(Range)> pass) const {
  // A row is a copy of a few hundred floats: below this many, waking the team
  // costs more than it saves.
  constexpr int kRowsWorthATeam = 64;
  if (rows < kRowsWorthATeam) return pass({0, rows});
  compute.team().Run(
      [&](int member) { pass(Share(rows, member, compute.team().size())); });
}

void Embedding::TakeTokens(Compute& compute, const Rows& rows,
                           Matrix dst) const {
  ForRows(compute, static_cast<int>(rows.ids.size()), [&](Range range) {
    for (int r = range.begin; r < range.end; ++r) {
      float* const out = dst.row(r);
      if (tables_.zero_start && rows.positions[r] == 0) {
        std::fill_n(out, dst.cols, 0.0f);
        continue;
      }
      const float scale =
          tables_.scale * (rows.scales.empty() ? 1 : rows.scales[r]);
      if (rows.ids[r] == tables_.dropped_id) {
        // Not a number where all tokens of a source are dropped.
        std::fill_n(out, dst.cols, 0 * scale);
        continue;
      }
      tables_.tokens->Read(rows.ids[r], {out, 1, dst.cols});
      tables_.token_adapters.AddTo(AdapterOf(rows, r), rows.ids[r],
                                   {out, 1, dst.cols});
      if (scale == 1) continue;
      for (int j = 0; j < dst.cols; ++j) out[j] *= scale;
    }
  });
}

void Embedding::AddOthers(Compute& compute, const Rows& rows,
                          Matrix dst) const {
  const bool types = tables_.types.rows() > 0;
  const bool positions = tables_.positions.rows() > 0;
  if (!types && !positions) return;
  ForRows(compute, static_cast<int>(rows.ids.size()), [&](Range range) {
    for (int r = range.begin; r < range.end; ++r) {
      const absl::Span<float> sum(dst.row(r), dst.cols);
      if (types) {
        const int type = rows.types.empty() ? 0 : rows.types[r];
        tables_.types.AddTo(type, sum);
        tables_.type_adapters.AddTo(AdapterOf(rows, r), type,
                                    {dst.row(r), 1, dst.cols});
      }
      if (positions) {
        tables_.positions.AddTo(rows.positions[r] + tables_.position_offset,
                                sum);
      }
    }
  });
}

absl::Status Embedding::Run(ExecContext& context, const Rows& rows,
                            Matrix narrow, const Operand& narrow_operand,
                            Matrix dst) const {
  const OpTimer timer({.name = "embed", .rows = dst.rows});
  const auto project = [&]() -> absl::Status {
    MakeOperand(context.compute(), narrow, narrow_operand);
    return projection_->Run(context, narrow_operand, dst);
  };
  const bool first = projected() && tables_.projects_tokens;
  TakeTokens(context.compute(), rows, projected() ? narrow : dst);
  if (first) RETURN_IF_ERROR(project());
  const Matrix sum = projected() && !first ? narrow : dst;
  const auto norm = [&] { norm_->Run(context.compute(), sum, sum, {}); };
  if (norm_ && tables_.norms_tokens) norm();
  AddOthers(context.compute(), rows, sum);
  if (norm_ && !tables_.norms_tokens) norm();
  return projected() && !first ? project() : absl::OkStatus();
}

}  // namespace attend
