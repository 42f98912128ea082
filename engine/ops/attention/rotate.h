#ifndef ATTEND_ENGINE_OPS_ATTENTION_ROTATE_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ROTATE_H_

#include "absl/functional/function_ref.h"
#include "engine/compute/compute.h"

namespace attend {

inline constexpr int kMaxRotaryDims = 1024;

// Cosines and sines of a row's angles, [dims / 2] each.
struct RowAngles {
  const float* cos = nullptr;
  const float* sin = nullptr;
};
// Where a member makes angles that are in no table, and what it made them of:
// the rows of a prompt, which come together, have their frequencies in common.
struct RotaryScratch {
  int length = 0;  // that `frequencies` are of; 0: of none
  float frequencies[kMaxRotaryDims / 2];
  float cos[kMaxRotaryDims / 2];
  float sin[kMaxRotaryDims / 2];
};

// Rotary position embedding (Su et al. 2021) of queries or keys, in place: of
// each head, number i and number i + dims / 2 are turned by angle i of the row,
// as GPT-NeoX and Llama pair them; those from `dims` on stay. Queries and keys
// that lie side by side may go together, as so many heads. A row's bits depend
// on that row only.
struct RotateArgs {
  // Row r of head h starts at values + r * stride + h * head_dim.
  float* values = nullptr;
  int rows = 0;
  int stride = 0;
  int heads = 0;
  int head_dim = 0;  // >= dims
  int dims = 0;      // numbers of a head that are turned; even
  // Of a row, valid until the next one of the same scratch is asked for; called
  // by any member of the team.
  absl::FunctionRef<RowAngles(int row, RotaryScratch& scratch)> angles;
};
void Rotate(Compute& compute, const RotateArgs& args);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ROTATE_H_
