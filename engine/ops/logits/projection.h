#ifndef ATTEND_ENGINE_OPS_LOGITS_PROJECTION_H_
#define ATTEND_ENGINE_OPS_LOGITS_PROJECTION_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/row_source.h"

namespace attend {

// The vocabulary projection x W^T + b, folded into what a search asks of each
// row while a tile of columns is in cache: [rows, vocab] is written nowhere
// unless a row is asked for. Tiles are dealt out as members come free, and each
// weight is read by one member only. With AVX-512 or more the answers about a
// row have the same bits in any company and for any team size.
// Const as a MatMul is.
class Projection {
 public:
  // `weights` is [vocab, hidden], read as by MatMul; `bias` [vocab] or empty.
  // With a `softcap` above 0 logits are softcap * tanh((x W^T + b) / softcap)
  // (Gemma 2, 2024). `primitives` must outlive the projection. Errors as of
  // MatMul.
  static absl::StatusOr<Projection> Create(Primitives& primitives,
                                           ComputeType dtype,
                                           const RowSource& weights,
                                           Buffer<float> bias, int max_rows,
                                           float softcap = 0);
  Projection(Projection&&);
  Projection& operator=(Projection&&);
  ~Projection();

  int in() const;   // hidden
  int out() const;  // vocab
  // The weights as they are multiplied, [vocab, hidden]: rounded to the dtype.
  std::shared_ptr<const RowSource> weights() const;

  // Answers `needs` [rows] about the logits of src [rows, hidden], in the dtype
  // of Create(), into dst; rows <= max_rows. `context` is for the primitives of
  // Create(); `dst` has parts for as many members. Allocates nothing itself
  // (see MatMul::Run). Error: INTERNAL from oneDNN.
  absl::Status Run(ExecContext& context, const Operand& src,
                   absl::Span<const LogitsNeed> needs, LogitsBuffer& dst) const;

 private:
  struct Impl;
  explicit Projection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_PROJECTION_H_
