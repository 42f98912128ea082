#ifndef ATTEND_ENGINE_OPS_LOGITS_LISTED_PROJECTION_H_
#define ATTEND_ENGINE_OPS_LOGITS_LISTED_PROJECTION_H_

#include <cstdint>

#include "absl/types/span.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/logits/dot_kernel.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/ops/logits/logits_kernel.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/row_source.h"

namespace attend {

// The vocabulary projection for rows that choose from few tokens (see
// LogitsNeed::listed): a product a listed token. The weights are those of a
// Projection once more, each token's in one place; what a Projection packs is
// read in blocks of many tokens. On any machine the answers about a row have
// the same bits for any other rows and any team size; in int8 the logits have
// the bits of the Projection's. Const.
class ListedProjection {
 public:
  // As Projection::Create(), which must have accepted these weights; `bias` is
  // [vocab] or empty, and copied. Members of the team read the weights once.
  ListedProjection(Primitives& primitives, ComputeType dtype,
                   const RowSource& weights, absl::Span<const float> bias,
                   float softcap);

  // Bytes of the weights.
  static uint64_t BytesFor(ComputeType dtype, int vocab, int hidden);

  // Puts the answers to those of `needs` [rows] that list tokens into `dst`, as
  // Projection::Run() does for the others. Allocates nothing.
  void Run(ExecContext& context, const Operand& src,
           absl::Span<const LogitsNeed> needs, LogitsBuffer& dst) const;

 private:
  struct Call;

  void Pack(Compute& compute, const RowSource& weights);
  // The logits of part `part` of the list of `row`, and of the rows after it
  // that have the same list.
  void Multiply(const Call& call, int row, int part) const;
  // Makes logits of the products with the listed tokens, in place.
  void Finish(absl::Span<const int> listed, float* logits) const;
  // Makes the answers about a row of its logits, [listed].
  void Answer(const Call& call, int row) const;

  const ComputeType dtype_;
  const int vocab_;
  const int hidden_;
  const float softcap_;
  const size_t row_bytes_;
  const LogitsKernels kernels_;
  const DotKernel dot_;
  Buffer<char> weights_;  // [vocab] rows
  Buffer<float> bias_;    // [vocab] or empty
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_LISTED_PROJECTION_H_
