#ifndef ATTEND_TESTS_ENGINE_OPS_ATTENTION_ATTENTION_CASE_H_
#define ATTEND_TESTS_ENGINE_OPS_ATTENTION_ATTENTION_CASE_H_

#include <vector>

#include "engine/compute/compute.h"
#include "engine/ops/attention/attention.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {

// Random biases of `heads` heads.
struct Biases {
  Biases(int heads, int max_distance);
  int Entry(int distance) const;
  float Of(int head, int distance) const;

  DistanceBias bias;
  std::vector<float> values;
};

// Attention with biases by distance, a cap of scores, or a window.
struct AttentionCase {
  AttentionShape shape;
  int position = 0;  // of the first query
  bool causal = false;
  int window = 0;
  int max_distance = -1;  // of the bias; -1: none
  bool holes = false;
  bool slopes = false;  // of each head, of either sign
  float softcap = 0;
};

// Checks the results in every KvType against the naive form, and that a row has
// the same bits with any other rows.
void ExpectCase(const AttentionCase& c, const std::vector<Compute*>& teams);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_ATTENTION_ATTENTION_CASE_H_
