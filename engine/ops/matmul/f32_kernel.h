#ifndef ATTEND_ENGINE_OPS_MATMUL_F32_KERNEL_H_
#define ATTEND_ENGINE_OPS_MATMUL_F32_KERNEL_H_

namespace attend {

// Columns of one packed block of weights.
inline constexpr int kF32BlockColumns = 64;
// Most rows of one call.
inline constexpr int kF32Rows = 64;

// dst [rows, n] = src [rows, k] * weights [k, n] in f32; src and dst are dense.
// The weights are blocks of 64 columns, one after the other, each
// [padded_k][64]; numbers beyond k and n are not used. A row's bits depend on
// that row only.
struct F32Args {
  const float* src = nullptr;
  const float* weights = nullptr;
  float* dst = nullptr;
  int rows = 0;  // in [1, kF32Rows]
  int k = 0;
  int padded_k = 0;
  int n = 0;
};

namespace avx512 {
void MultiplyF32(const F32Args& args);
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_F32_KERNEL_H_
