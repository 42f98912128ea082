#include "engine/transformer/load.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/checkpoint/slot_rows.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/status_macros.h"
#include "engine/tensor/stored_rows.h"
#include "engine/transformer/load_adapters.h"

namespace attend {
namespace {

// Several matrices with equally many columns, one below the other.
class JoinedRows final : public RowSource {
 public:
  explicit JoinedRows(std::vector<std::unique_ptr<const SlotRows>> matrices)
      : matrices_(std::move(matrices)) {
    for (const auto& matrix : matrices_) rows_ += matrix->rows();
  }

  int rows() const override { return rows_; }
  int cols() const override { return matrices_.front()->cols(); }
  void Read(int first, Matrix dst) const override {
    for (const auto& matrix : matrices_) {
      const int count = std::min(matrix->rows() - first, dst.rows);
      if (count > 0) {
        matrix->Read(first, {dst.data, count, dst.cols});
        dst = {dst.row(count), dst.rows - count, dst.cols};
      }
      first = std::max(first - matrix->rows(), 0);
    }
  }
  bool ReadFourBits(int row, absl::Span<FourBitGroup> dst) const override {
    for (const auto& matrix : matrices_) {
      if (row < matrix->rows()) return matrix->ReadFourBits(row, dst);
      row -= matrix->rows();
    }
    return false;
  }

 private:
  const std::vector<std::unique_ptr<const SlotRows>> matrices_;
  int rows_ = 0;
};

// Rows of another source, whose lengths are noted when they are read.
class MeasuredRows final : public RowSource {
 public:
  // `lengths` [rows] or empty.
  MeasuredRows(const RowSource& source, absl::Span<double> lengths)
      : source_(source), lengths_(lengths) {}

  int rows() const override { return source_.rows(); }
  int cols() const override { return source_.cols(); }
  void Read(int first, Matrix dst) const override {
    source_.Read(first, dst);
    if (lengths_.empty()) return;
    for (int r = 0; r < dst.rows; ++r) {
      const float* const row = dst.row(r);
      lengths_[first + r] = std::sqrt(
          std::transform_reduce(row, row + dst.cols, 0.0, std::plus<>(),
                                [](double x) { return x * x; }));
    }
  }
  bool ReadFourBits(int row, absl::Span<FourBitGroup> dst) const override {
    return source_.ReadFourBits(row, dst);
  }

 private:
  const RowSource& source_;
  const absl::Span<double> lengths_;
};

// An empty buffer where the table has no such slot.
absl::StatusOr<Buffer<float>> ReadIfListed(Weights& weights,
                                           const std::string& slot, int size) {
  if (!weights.Lists(slot)) return Buffer<float>();
  return weights.Read(slot, {size});
}

StoredRows Stored(const Buffer<float>& table, int rows, int width) {
  return StoredRows(ConstMatrix(table.data(), rows, width));
}

absl::StatusOr<StoredRows> LoadTable(Weights& weights, const std::string& slot,
                                     int rows, int width) {
  ASSIGN_OR_RETURN(const auto table, weights.Rows(slot, {rows, width}));
  return table->Copy();
}

// Slots "<prefix>.types" and ".tasks".
absl::StatusOr<StoredRows> LoadTypes(Weights& weights,
                                     const std::string& prefix,
                                     const EmbeddingSpec& spec, int width) {
  const std::string slot = prefix + ".types";
  const int rows = spec.token_types;
  if (spec.task_types == 0) return LoadTable(weights, slot, rows, width);
  ASSIGN_OR_RETURN(Buffer<float> types, weights.Read(slot, {rows, width}));
  ASSIGN_OR_RETURN(const Buffer<float> tasks,
                   weights.Read(prefix + ".tasks", {spec.task_types, width}));
  for (int i = 0; i < rows * width; ++i) types[i] += tasks[i % width];
  return Stored(types, rows, width);
}

absl::StatusOr<StoredRows> LoadPositions(Weights& weights,
                                         const std::string& slot,
                                         const EmbeddingSpec& spec, int width) {
  const int rows = spec.max_positions + spec.position_offset;
  switch (spec.positions) {
    case Positions::kNone:
      break;
    case Positions::kSinusoidal:
      return Stored(Sinusoids(rows, width), rows, width);
    case Positions::kSinusoidalToEnd:
      // Row position_offset - 1 is that of tokens that are not counted.
      return Stored(SinusoidsToEnd(rows, width, spec.position_offset - 1), rows,
                    width);
    case Positions::kLearned:
      return LoadTable(weights, slot, rows, width);
  }
  return StoredRows();
}

}  // namespace

absl::StatusOr<Linear> LoadLinear(Primitives& primitives, Weights& weights,
                                  const std::vector<std::string>& slots, int in,
                                  const std::vector<int>& out,
                                  const LoadOptions& options, Range precise,
                                  absl::Span<double> lengths) {
  int total = 0;
  for (int n : out) total += n;
  const bool any_bias =
      std::any_of(slots.begin(), slots.end(), [&](const std::string& slot) {
        return weights.Lists(absl::StrCat(slot, ".bias"));
      });
  std::vector<std::unique_ptr<const SlotRows>> matrices;
  Buffer<float> bias(any_bias ? total : 0);
  size_t row = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    ASSIGN_OR_RETURN(
        matrices.emplace_back(),
        weights.Rows(absl::StrCat(slots[i], ".weight"), {out[i], in}));
    ASSIGN_OR_RETURN(
        const Buffer<float> slot_bias,
        ReadIfListed(weights, absl::StrCat(slots[i], ".bias"), out[i]));
    if (slot_bias.size() > 0) {
      std::copy_n(slot_bias.data(), slot_bias.size(), bias.data() + row);
    }
    row += out[i];
  }
  const JoinedRows joined(std::move(matrices));
  return Linear::Create(primitives, options.dtype,
                        MeasuredRows(joined, lengths), std::move(bias),
                        options.max_rows, precise);
}

absl::StatusOr<Norm> LoadNorm(Weights& weights, const std::string& slot,
                              int size, const NormSpec& spec) {
  ASSIGN_OR_RETURN(Buffer<float> gamma,
                   weights.Read(absl::StrCat(slot, ".weight"), {size}));
  ASSIGN_OR_RETURN(Buffer<float> beta,
                   ReadIfListed(weights, absl::StrCat(slot, ".bias"), size));
  if (spec.unit_offset) {
    for (int i = 0; i < size; ++i) gamma[i] += 1;
  }
  return Norm(std::move(gamma), std::move(beta), spec.epsilon,
              spec.kind == NormKind::kRmsNorm);
}

absl::StatusOr<Embedding> LoadEmbedding(Primitives& primitives,
                                        Weights& weights,
                                        TokenTables& token_tables,
                                        const std::string& prefix, int hidden,
                                        const EmbeddingSpec& spec,
                                        const LoadOptions& options) {
  const auto slot = [&](const char* name) {
    return absl::StrCat(prefix, ".", name);
  };
  Embedding::Tables tables;
  tables.scale = spec.scale;
  tables.zero_start = spec.zero_start;
  tables.dropped_id = spec.dropped_id;
  tables.norms_tokens = spec.norms_tokens;
  tables.position_offset = spec.position_offset;
  ASSIGN_OR_RETURN(tables.tokens,
                   token_tables.Load(slot("tokens"), spec.vocab, spec.width));
  ASSIGN_OR_RETURN(tables.token_adapters,
                   LoadTableAdapters(weights, slot("tokens"), spec.vocab,
                                     spec.width, options));
  tables.projects_tokens = spec.projects_tokens;
  const int width = spec.projects_tokens ? hidden : spec.width;
  ASSIGN_OR_RETURN(tables.positions,
                   LoadPositions(weights, slot("positions"), spec, width));
  if (spec.token_types > 0) {
    ASSIGN_OR_RETURN(tables.types, LoadTypes(weights, prefix, spec, width));
    ASSIGN_OR_RETURN(tables.type_adapters,
                     LoadTableAdapters(weights, slot("types"), spec.token_types,
                                       width, options));
  }
  std::optional<Norm> norm;
  if (spec.norm) {
    ASSIGN_OR_RETURN(norm, LoadNorm(weights, slot("norm"), width, *spec.norm));
  }
  std::optional<Linear> projection;
  if (spec.width != hidden) {
    ASSIGN_OR_RETURN(projection,
                     LoadLinear(primitives, weights, {slot("projection")},
                                spec.width, {hidden}, options));
  }
  return Embedding(std::move(tables), std::move(norm), std::move(projection));
}

absl::StatusOr<std::vector<Dense>> LoadDense(
    Primitives& primitives, Weights& weights, const std::string& prefix, int in,
    const std::vector<DenseSpec>& specs, const LoadOptions& options) {
  std::vector<Dense> layers;
  for (size_t i = 0; i < specs.size(); ++i) {
    const DenseSpec& spec = specs[i];
    const std::string slot = absl::StrCat(prefix, ".", i);
    Dense::Parts parts = {.out = spec.out,
                          .activation = spec.activation,
                          .pointwise = spec.pointwise,
                          .residual = spec.residual,
                          .unit_length = spec.unit_length};
    if (spec.linear) {
      ASSIGN_OR_RETURN(parts.linear, LoadLinear(primitives, weights, {slot}, in,
                                                {spec.out}, options));
    }
    if (spec.residual && in != spec.out) {
      ASSIGN_OR_RETURN(parts.residual_linear,
                       LoadLinear(primitives, weights, {slot + ".residual"}, in,
                                  {spec.out}, options));
    }
    if (spec.norm) {
      ASSIGN_OR_RETURN(parts.norm,
                       LoadNorm(weights, slot + ".norm", spec.out, *spec.norm));
    }
    layers.emplace_back(std::move(parts));
    in = spec.out;
  }
  return layers;
}

}  // namespace attend
