#ifndef ATTEND_ENGINE_OPS_ATTENTION_KERNEL_H_
#define ATTEND_ENGINE_OPS_ATTENTION_KERNEL_H_

#include <cstddef>

namespace attend {

// Query rows that a kernel takes at once, over one load of each key.
inline constexpr int kAttentionRows = 8;

// What one call of an attention kernel computes: a few consecutive query rows
// of one head.
//
// In a block, the keys of one layer and head are a tile [head_dim][16 tokens],
// so that 16 scores come from broadcasts of the query without sums across
// lanes; its values are a tile [16 tokens][head_dim].
struct AttentionRows {
  const float* query = nullptr;
  int query_stride = 0;
  int rows = 0;  // in [1, kAttentionRows]
  int head_dim = 0;
  float scale = 0;
  const std::byte* const* blocks = nullptr;
  size_t key_offset = 0;    // bytes from a block's start to the key tile
  size_t value_offset = 0;  // likewise
  int keys = 0;             // that the first row sees
  int more_keys = 0;        // that each further row sees in addition: 0 or 1
  float* scores = nullptr;  // scratch [rows, score_stride]
  int score_stride = 0;     // a multiple of 16, at least the most keys
  float* dst = nullptr;
  int dst_stride = 0;
};

namespace baseline {
void AttendRows(const AttentionRows& args);
}
namespace avx2 {
void AttendRows(const AttentionRows& args);
}
namespace avx512 {
void AttendRows(const AttentionRows& args);
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_KERNEL_H_
