#ifndef ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_H_
#define ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_H_

#include "engine/compute/compute.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/matrix.h"

namespace attend {

enum class Activation {
  kNone,
  kRelu,
  kGelu,      // x * P(X <= x), by erf (Hendrycks & Gimpel 2016)
  kGeluTanh,  // its form 0.5x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  kSilu,
  kTanh,
};

// Layer normalisation (Ba et al. 2016): (x - mean) / sqrt(var + epsilon),
// times gamma, plus beta. RMS normalisation (Zhang & Sennrich 2019) leaves the
// mean out of both: x / sqrt(mean(x^2) + epsilon), times gamma, plus beta.
struct NormWeights {
  const float* gamma = nullptr;  // [hidden]
  const float* beta = nullptr;   // [hidden]; null: none
  float epsilon = 1e-5f;
  bool rms = false;
};

// What happens to each row of a matmul's result while it is in cache, in this
// order; null means not. Everything pointed to must outlive the call.
struct Epilogue {
  const float* bias = nullptr;  // [N]
  Activation activation = Activation::kNone;
  // A gated linear unit (Shazeer 2020): of N = 2 * width columns the first
  // width are the gate, the others the value; the result is [rows, width],
  // activation(gate + bias) * (value + bias). Without residual.
  bool gated = false;
  const float* residual = nullptr;    // [rows, N], may be the matmul's dst
  const NormWeights* norm = nullptr;  // over the row
  // Where the result also goes as the source of the next matmul; no data: it
  // does not, or it is dst itself.
  Operand operand = {};
  // Nobody reads dst: unless it is the operand, it may be left unwritten.
  bool operand_only = false;
};

// dst = norm(src), row by row; both [rows, hidden]; dst may be src. For
// where no matmul comes before; `operand` is as in Epilogue. A row's bits
// depend on that row only.
void Normalize(Compute& compute, ConstMatrix src, const NormWeights& norm,
               Matrix dst, const Operand& operand = {});

// Normalizes each head's head_dim numbers of each row in place, with the same
// gamma (and beta) [head_dim] for all: norms of queries and keys (Henry et al.
// 2020). A row's bits depend on that row only.
struct NormalizeHeadsArgs {
  // Row r of head h starts at values + r * stride + h * head_dim.
  float* values = nullptr;
  int stride = 0;  // >= heads * head_dim
  int rows = 0;
  int heads = 0;
  int head_dim = 0;
  NormWeights norm;
};
void NormalizeHeads(Compute& compute, const NormalizeHeadsArgs& args);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_H_
