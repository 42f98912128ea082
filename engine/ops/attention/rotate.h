#ifndef ATTEND_ENGINE_OPS_ATTENTION_ROTATE_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ROTATE_H_

#include "absl/functional/function_ref.h"
#include "engine/compute/compute.h"

namespace attend {

inline constexpr int kMaxRotaryDims = 1024;

// The cosines and sines of a row's angles, [dims / 2] each.
struct RowAngles {
  const float* cos = nullptr;
  const float* sin = nullptr;
};
// Memory in which a member computes angles that are in no table. Keeps the last
// frequencies: all rows of a prompt have the same.
struct RotaryScratch {
  int length = 0;  // the length whose frequencies these are; 0: none yet
  float frequencies[kMaxRotaryDims / 2];
  float cos[kMaxRotaryDims / 2];
  float sin[kMaxRotaryDims / 2];
};

// Rotary position embedding (Su et al. 2021) of queries or keys, in place.
// Numbers i and i + dims / 2 of each head are rotated by angle i of the row,
// the pairs of GPT-NeoX and Llama; numbers from `dims` on stay. Heads of
// queries and keys that lie side by side may go in one call. A row's bits
// depend on that row only.
struct RotateArgs {
  // Row r of head h starts at values + r * stride + h * head_dim.
  float* values = nullptr;
  int rows = 0;
  int stride = 0;
  int heads = 0;
  int head_dim = 0;  // >= dims
  int dims = 0;      // numbers of a head that are rotated; even
  // Returns the angles of a row, valid until the next call with the same
  // scratch. Any member of the team may call it.
  absl::FunctionRef<RowAngles(int row, RotaryScratch& scratch)> angles;
};
void Rotate(Compute& compute, const RotateArgs& args);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ROTATE_H_
