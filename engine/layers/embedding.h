#ifndef ATTEND_ENGINE_LAYERS_EMBEDDING_H_
#define ATTEND_ENGINE_LAYERS_EMBEDDING_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/layers/table_adapters.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/stored_rows.h"

namespace attend {

// A table of positions, [rows, width]. Row p has the sines of the angles
// p * 10000^(-2i / width), then the cosines of the same angles (Vaswani et al.
// 2017, section 3.5, where sines and cosines alternate).
Buffer<float> Sinusoids(int rows, int width);
// The same with angles p * 10000^(-i / (width/2 - 1)), and zeros in row
// `zero_row` (-1: in no row), as in fairseq. `width` is even and above 2.
Buffer<float> SinusoidsToEnd(int rows, int width, int zero_row);

// Makes hidden states of tokens:
//   without a projection   norm(scale * token + position + type)
//   projects_tokens        norm(projection(scale * token) + position + type)
//   norms_tokens           norm(scale * token) + position + type
//   else                   projection(norm(scale * token + position + type))
// The norm may be missing. Const after construction.
class Embedding {
 public:
  struct Tables {
    std::shared_ptr<const RowSource> tokens;  // [vocab, width]
    float scale = 1;
    bool zero_start = false;  // the token's vector at position 0 is zeros
    int dropped_id = -1;      // the vector of this token is zeros; -1: of none
    bool projects_tokens = false;
    bool norms_tokens = false;  // with a norm, without a projection
    // Both have `width` columns, or `hidden` columns with projects_tokens.
    StoredRows positions;     // no rows: positions are not added
    int position_offset = 0;  // the row of position 0
    StoredRows types;         // no rows: types are not added
    TableAdapters token_adapters = {};
    TableAdapters type_adapters = {};
  };
  // Without a projection `width` must be `hidden`.
  Embedding(Tables tables, std::optional<Norm> norm,
            std::optional<Linear> projection)
      : tables_(std::move(tables)),
        norm_(std::move(norm)),
        projection_(std::move(projection)) {}

  struct Rows {
    absl::Span<const int> ids;
    absl::Span<const int> positions;
    absl::Span<const int> types;  // empty: 0
    // The adapter of each row, -1: none. Empty: no row has one.
    absl::Span<const int> adapters = {};
    // Factors of the tokens' vectors, besides Tables::scale; empty: 1.
    absl::Span<const float> scales = {};
  };
  // dst is [rows, hidden]. With a projection, `narrow` and `narrow_operand`
  // [rows, width] are overwritten; without one they are not used.
  absl::Status Run(ExecContext& context, const Rows& rows, Matrix narrow,
                   const Operand& narrow_operand, Matrix dst) const;

  bool projected() const { return projection_.has_value(); }
  int width() const { return tables_.tokens->cols(); }

 private:
  // Calls pass() for all rows: on the team if the rows are many enough.
  void ForRows(Compute& compute, int rows,
               absl::FunctionRef<void(Range)> pass) const;
  void TakeTokens(Compute& compute, const Rows& rows, Matrix dst) const;
  void AddOthers(Compute& compute, const Rows& rows, Matrix dst) const;

  Tables tables_;
  std::optional<Norm> norm_;
  std::optional<Linear> projection_;  // width -> hidden
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_EMBEDDING_H_
