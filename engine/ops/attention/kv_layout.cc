#include "engine/ops/attention/kv_layout.h"

namespace attend {
namespace {

size_t RoundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

size_t KvLayout::values_at() const {
  return RoundUp(block_tokens * head_dim * BytesOf(dtype));
}

size_t KvLayout::scales_at() const {
  // Kernels of other types than f32 always load whole vectors of 16 numbers.
  const bool reads_on = dtype != KvType::kF32 && head_dim % 16 != 0;
  const int more = reads_on ? 16 : 0;
  return values_at() +
         RoundUp((block_tokens * head_dim + more) * BytesOf(dtype));
}

size_t KvLayout::head_bytes() const {
  const size_t scales =
      dtype == KvType::kInt8 ? 2 * block_tokens * sizeof(float) : 0;
  return scales_at() + scales;
}

int MostTogether(Isa isa, const KvLayout& layout) {
  if (layout.head_dim > KvLayout::kMaxTogetherDim) return 1;
  switch (layout.dtype) {
    case KvType::kF32:
      return 1;
    case KvType::kBf16:
      return isa >= Isa::kAvx512Bf16 && layout.head_dim % 2 == 0 ? 2 : 1;
    case KvType::kInt8:
      return isa >= Isa::kAvx512Vnni && layout.head_dim % 4 == 0 ? 4 : 1;
  }
  return 1;
}

KvLayout DecoderLayout(Isa isa, KvLayout layout) {
  if (layout.dtype == KvType::kInt8)
    layout.together = MostTogether(isa, layout);
  return layout;
}

}  // namespace attend
