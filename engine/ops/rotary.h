#ifndef ATTEND_ENGINE_OPS_ROTARY_H_
#define ATTEND_ENGINE_OPS_ROTARY_H_

#include "absl/types/span.h"
#include "engine/compute/compute.h"

namespace attend {

// Cosines and sines of the angles of rotary positions; somebody else owns them.
struct RotaryTable {
  const float* cos = nullptr;  // [max_positions, dims / 2]
  const float* sin = nullptr;  // likewise
  int dims = 0;                // numbers of a head that are turned; even
  int max_positions = 0;
};

// Rotary position embedding (Su et al. 2021) of queries or keys, in place: of
// each head, number i and number i + dims / 2 are turned by angle i of the
// row's position, as GPT-NeoX and Llama pair them; those from `dims` on stay.
// Queries and keys that lie side by side may go together, as so many heads. A
// row's bits depend on that row only.
struct RotateArgs {
  // Row r of head h starts at values + r * stride + h * head_dim.
  float* values = nullptr;
  int stride = 0;
  int heads = 0;
  int head_dim = 0;                 // >= table.dims
  absl::Span<const int> positions;  // [rows], in [0, max_positions)
  RotaryTable table;
};
void Rotate(Compute& compute, const RotateArgs& args);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ROTARY_H_
