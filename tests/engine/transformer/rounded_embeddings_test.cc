// The loss of embeddings in bf16 and int8: dense ones of two routes, weights of
// the vocabulary and vectors of tokens, of a model whose width makes rounding
// errors as small as they are in models that are used.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/transformer/spec.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/transformer_outputs.h"

namespace attend {
namespace {

constexpr int kHidden = 256;
constexpr double kLowestCosine = 0.998;

// BERT's layers, with SPLADE's weights, ColBERT's vectors, and a Router to two
// poolings, one with a Dense.
TransformerSpec WideSpec() {
  const LayerSpec layer = {
      .norm = {.epsilon = 1e-6f},
      .norm_place = NormPlace::kPost,
      .self_attention = {.heads = 4,
                         .kv_heads = 4,
                         .head_dim = kHidden / 4,
                         .scale = 0.125f},
      .cross_attention = std::nullopt,
      .feed_forward = {.width = 4 * kHidden, .activation = Activation::kGelu}};
  TransformerSpec spec;
  spec.hidden = kHidden;
  spec.encoder = {.embedding = {.vocab = 512,
                                .width = kHidden,
                                .positions = Positions::kLearned,
                                .max_positions = 64,
                                .norm = NormSpec()},
                  .layers = {layer, layer, layer}};
  spec.embed.sparse.emplace().logs = 2;
  spec.embed.tokens.emplace().layers = {{.out = 64, .unit_length = true}};
  spec.routes = {{.poolings = {Pooling::kCls},
                  .layers = {{.out = 96, .activation = Activation::kTanh}}}};
  spec.head = {.kind = HeadKind::kMaskedLm,
               .layers = {{.out = kHidden,
                           .activation = Activation::kGelu,
                           .norm = NormSpec()}}};
  return spec;
}

double Cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double product = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return product / std::sqrt(aa * bb);
}

TEST(RoundedEmbeddingsTest, EmbeddingsOfAllKindsKeepTheirDirection) {
  Compute compute({.threads = 1});
  const TransformerSpec spec = WideSpec();
  ASSERT_TRUE(spec.Validate().ok()) << spec.Validate();
  const TensorsBySlot weights = RandomWeights(spec, 3);
  const Outputs exact = EngineOutputs(compute, spec, weights);
  for (const ComputeType dtype : {ComputeType::kBf16, ComputeType::kInt8}) {
    if (!CheckComputeType(dtype, compute.isa()).ok()) continue;
    const Outputs rounded = EngineOutputs(compute, spec, weights, dtype);
    for (const char* kind :
         {"vector", "vector of route 1", "sparse", "tokens"}) {
      const Rows& rows = exact.at(kind);
      double lowest = 1;
      for (size_t r = 0; r < rows.size(); ++r) {
        lowest = std::min(lowest, Cosine(rows[r], rounded.at(kind)[r]));
      }
      EXPECT_GE(lowest, kLowestCosine) << TypeName(dtype) << " " << kind;
      EXPECT_LT(lowest, 1) << TypeName(dtype) << " " << kind;
      RecordProperty(std::string(TypeName(dtype)) + " " + kind,
                     std::to_string(lowest));
    }
  }
}

}  // namespace
}  // namespace attend
