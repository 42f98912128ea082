#ifndef ATTEND_ENGINE_CHECKPOINT_CONVERT_H_
#define ATTEND_ENGINE_CHECKPOINT_CONVERT_H_

#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// Little-endian numbers of a file, at any alignment, to f32; `src` holds
// dst.size() of them. Exact: every F16 and BF16 is an f32.
void F32ToF32(const uint8_t* src, absl::Span<float> dst);
void F16ToF32(const uint8_t* src, absl::Span<float> dst);
void Bf16ToF32(const uint8_t* src, absl::Span<float> dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_CONVERT_H_
