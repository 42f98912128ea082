#ifndef ATTEND_ENGINE_OPS_LOGITS_PROJECTION_H_
#define ATTEND_ENGINE_OPS_LOGITS_PROJECTION_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/row_source.h"

namespace attend {

// The vocabulary projection x W^T + b. Each tile of logits is folded into the
// answers that a search needs while the tile is in cache: no row is written as
// a whole unless somebody asks for the row. A member that is free takes the
// next tiles; each weight is read by one member only. With AVX-512 or more the
// answers about a row have the same bits for any other rows and any team size.
// Const, as a MatMul is.
class Projection {
 public:
  // `weights` is [vocab, hidden], and read as in MatMul::Create(); `bias` is
  // [vocab] or empty. With a `softcap` above 0 logits are
  // softcap * tanh((x W^T + b) / softcap) (Gemma 2, 2024). `primitives` must
  // outlive the projection. Errors and `precise`: see MatMul::Create().
  static absl::StatusOr<Projection> Create(
      Primitives& primitives, ComputeType dtype, const RowSource& weights,
      Buffer<float> bias, int max_rows, float softcap = 0, Range precise = {});
  Projection(Projection&&);
  Projection& operator=(Projection&&);
  ~Projection();

  int in() const;   // hidden
  int out() const;  // vocab
  ComputeType dtype() const;
  // The weights, [vocab, hidden], rounded to the dtype.
  std::shared_ptr<const RowSource> weights() const;

  // Puts the answers to `needs` [rows] into `dst`, but for those that list
  // tokens, which are a ListedProjection's: about the logits of src
  // [rows, hidden], which has the dtype of Create(). rows <= max_rows.
  // `context` is made with the primitives of Create(); `dst` has room for the
  // members of its team. Allocates nothing itself (see MatMul::Run()).
  // INTERNAL: an error of oneDNN.
  absl::Status Run(ExecContext& context, const Operand& src,
                   absl::Span<const LogitsNeed> needs, LogitsBuffer& dst) const;

 private:
  struct Impl;
  explicit Projection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_PROJECTION_H_
