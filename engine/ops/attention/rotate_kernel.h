#ifndef ATTEND_ENGINE_OPS_ATTENTION_ROTATE_KERNEL_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ROTATE_KERNEL_H_

namespace attend {

// Rotates the first 2 * half numbers of each head of one row by the angles with
// these cosines and sines, [half]. Head h begins at values + h * head_dim.
using RotateRowKernel = void (*)(float* values, int heads, int head_dim,
                                 int half, const float* cos, const float* sin);

namespace baseline {
void RotateRow(float* values, int heads, int head_dim, int half,
               const float* cos, const float* sin);
}
namespace avx2 {
void RotateRow(float* values, int heads, int head_dim, int half,
               const float* cos, const float* sin);
}
namespace avx512 {
void RotateRow(float* values, int heads, int head_dim, int half,
               const float* cos, const float* sin);
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ROTATE_KERNEL_H_
