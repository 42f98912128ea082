#ifndef ATTEND_ENGINE_OPS_ROTARY_KERNEL_H_
#define ATTEND_ENGINE_OPS_ROTARY_KERNEL_H_

namespace attend {

// Turns the heads of one row, which lie side by side from `values` on, by the
// angles with these cosines and sines [half]; a head has 2 * half numbers.
using RotateRowKernel = void (*)(float* values, int heads, int half,
                                 const float* cos, const float* sin);

namespace baseline {
void RotateRow(float* values, int heads, int half, const float* cos,
               const float* sin);
}
namespace avx2 {
void RotateRow(float* values, int heads, int half, const float* cos,
               const float* sin);
}
namespace avx512 {
void RotateRow(float* values, int heads, int half, const float* cos,
               const float* sin);
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ROTARY_KERNEL_H_
