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
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/stored_rows.h"

namespace attend {

// [rows, width]: row p is the sines of the angles p * 10000^-2i/width, and
// after all of them the cosines (Vaswani et al. 2017, section 3.5, whose
// columns alternate).
Buffer<float> Sinusoids(int rows, int width);
// The same with angles p * 10000^-i/(width/2 - 1), and zeros in row `zero_row`
// (-1: none), as fairseq has them. `width` is even, above 2.
Buffer<float> SinusoidsToEnd(int rows, int width, int zero_row);

// A token's vector times a scale, plus the vectors of its position and type,
// normed, and mapped to the width of the model, before the sum or at last.
// Const after construction.
class Embedding {
 public:
  struct Tables {
    std::shared_ptr<const RowSource> tokens;  // [vocab, width]
    float scale = 1;                          // of tokens
    // The others, if there are any, have `width` columns, or those that the
    // tokens are mapped to.
    bool projects_tokens = false;
    StoredRows positions;     // [positions, ...], or no rows
    int position_offset = 0;  // row of position 0
    StoredRows types;         // [types, ...], or no rows
  };
  // Without a projection the width is the model's.
  Embedding(Tables tables, std::optional<Norm> norm,
            std::optional<Linear> projection)
      : tables_(std::move(tables)),
        norm_(std::move(norm)),
        projection_(std::move(projection)) {}

  struct Rows {
    absl::Span<const int> ids;
    absl::Span<const int> positions;
    absl::Span<const int> types;  // empty: 0
  };
  // dst [rows, hidden]. With a projection, `narrow` and `narrow_operand` [rows,
  // width] are overwritten; else nobody looks at them.
  absl::Status Run(ExecContext& context, const Rows& rows, Matrix narrow,
                   const Operand& narrow_operand, Matrix dst) const;

  bool projected() const { return projection_.has_value(); }
  int width() const { return tables_.tokens->cols(); }

 private:
  // A pass over rows that is worth the team if they are many.
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
