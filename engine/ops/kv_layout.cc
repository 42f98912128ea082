#include "engine/ops/kv_layout.h"

namespace attend {

size_t KvLayout::block_bytes() const {
  return static_cast<size_t>(layers) * kv_heads * 2 * head_dim * block_tokens *
         sizeof(float);
}

}  // namespace attend
