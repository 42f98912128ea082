#ifndef ATTEND_TESTS_ENGINE_OPS_ATTENTION_NAIVE_ATTENTION_H_
#define ATTEND_TESTS_ENGINE_OPS_ATTENTION_NAIVE_ATTENTION_H_

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "engine/ops/attention/kv_type.h"
#include "engine/ops/attention/mask.h"

namespace attend {

struct AttentionShape {
  int heads = 1;
  int kv_heads = 1;
  int head_dim = 1;
  int queries = 1;
  int keys = 1;
};

std::vector<float> RandomFloats(size_t n, unsigned seed);

// Queries, keys and values of a batch of padded inputs, token by token.
struct AttentionInputs {
  AttentionInputs(const AttentionShape& s, int batch, unsigned seed = 1);

  int query_cols() const { return shape.heads * shape.head_dim; }
  int kv_cols() const { return shape.kv_heads * shape.head_dim; }
  float scale() const { return 1 / std::sqrt(float(shape.head_dim)); }

  AttentionShape shape;
  std::vector<float> query;  // [batch, queries, heads, head_dim]
  std::vector<float> key;    // [batch, keys, kv_heads, head_dim]
  std::vector<float> value;  // as key
};

// The inputs with keys and values rounded to `dtype`.
AttentionInputs Rounded(const AttentionInputs& in, KvType dtype);

// The largest rounding error of a number in a row with largest magnitude
// `amax`: half a level of `dtype`.
double RoundingError(KvType dtype, double amax);

// What is added to the score of a head's query and key.
using ScoreBias = std::function<double(int head, int query, int key)>;

// The paper's formula over [batch, heads, queries, keys], in doubles. A query
// that sees no key gives zeros. With softcap > 0, scores are capped before the
// bias is added.
std::vector<double> NaiveAttention(const AttentionInputs& in,
                                   const AttentionMask& mask,
                                   const ScoreBias& bias = nullptr,
                                   double softcap = 0);

// The largest difference that the engine may have to NaiveAttention(), with
// keys and values in `dtype`.
double AttentionTolerance(const AttentionInputs& in,
                          KvType dtype = KvType::kF32);

// Checks that each element is within `tolerance` of the expected one.
void ExpectNear(const std::vector<float>& got,
                const std::vector<double>& expected, double tolerance);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_ATTENTION_NAIVE_ATTENTION_H_
