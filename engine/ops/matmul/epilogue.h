#ifndef ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_H_
#define ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_H_

#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/matrix.h"

namespace attend {

enum class Activation {
  kNone,
  kRelu,
  kReluSquared,  // max(x, 0)^2 (So et al. 2021)
  kGelu,         // x * P(X <= x), by erf (Hendrycks & Gimpel 2016)
  kGeluTanh,     // 0.5x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), close to
                 // kGelu
  kSilu,
  kTanh,
};

// Layer normalisation (Ba et al. 2016):
//   gamma * (x - mean(x)) / sqrt(var(x) + epsilon) + beta
// RMS normalisation (Zhang & Sennrich 2019):
//   gamma * x / sqrt(mean(x^2) + epsilon) + beta
struct NormWeights {
  const float* gamma = nullptr;  // [hidden]
  const float* beta = nullptr;   // [hidden]; null: none
  float epsilon = 1e-5f;
  bool rms = false;
};

// A product of low rank that some rows of a matmul's result get added (Hu et
// al. 2021): row r gets left[r] * right, of both only the numbers and rows
// [choice * rank, (choice + 1) * rank), where `choice` is choices[r]. In f32.
struct LowRank {
  absl::Span<const int> choices;  // [rows]; -1: the row gets nothing
  int rank = 0;
  ConstMatrix left;              // [rows, all choices * rank]
  const float* right = nullptr;  // [all choices * rank, N]
};

// What happens to each row of a matmul's result while the row is in cache, in
// this order. A null field does nothing. Everything pointed to must outlive the
// call.
struct Epilogue {
  const LowRank* low_rank = nullptr;
  const float* bias = nullptr;  // [N]
  Activation activation = Activation::kNone;
  // A gated linear unit (Shazeer 2020). N = 2 * width: the first `width`
  // columns are the gate, the others the value. The result [rows, width] is
  // activation(gate + bias) * (value + bias). There must be no residual.
  bool gated = false;
  const float* residual = nullptr;    // [rows, N], may be the matmul's dst
  const NormWeights* norm = nullptr;  // over the row
  // Gets the result as the operand of the next matmul. Without data: no operand
  // is made. Its data may be dst's.
  Operand operand = {};
  // Nobody reads dst, which needs no memory unless it is the operand.
  bool operand_only = false;
};

// dst = norm(src) for each row; both are [rows, hidden], and dst may be src.
// For places where no matmul comes before the norm. `operand`: see Epilogue. A
// row's bits depend on that row only.
void Normalize(Compute& compute, ConstMatrix src, const NormWeights& norm,
               Matrix dst, const Operand& operand = {});

// Heads of queries or keys of some rows: row r of head h starts at
// values + r * stride + h * head_dim.
struct HeadRows {
  float* values = nullptr;
  int stride = 0;  // >= heads * head_dim
  int rows = 0;
  int heads = 0;
  int head_dim = 0;
};

// Norms of queries and keys (Henry et al. 2020), in place: normalizes the
// head_dim numbers of each head of each row. All heads have the same gamma and
// beta, [head_dim], or with `by_head` each its own, [heads, head_dim]. A row's
// bits depend on that row only.
void NormalizeHeads(Compute& compute, const HeadRows& heads,
                    const NormWeights& norm, bool by_head = false);

// Spreads heads (spread_block.h), in place, so that keys lose less when they
// are rounded to int8. Products of queries and keys stay what they were, but
// for rounding in f32. A row's bits depend on that row only.
void SpreadHeads(Compute& compute, const HeadRows& heads);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_H_
