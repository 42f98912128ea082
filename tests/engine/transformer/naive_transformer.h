#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_NAIVE_TRANSFORMER_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_NAIVE_TRANSFORMER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/ops/attention/mask.h"
#include "engine/transformer/spec.h"

namespace attend {

// A tensor of the naive transformer: rows of doubles.
using Rows = std::vector<std::vector<double>>;

struct NamedTensor {
  std::vector<int64_t> shape;
  std::vector<float> values;
};
using TensorsBySlot = std::map<std::string, NamedTensor>;

// Random weights for every slot of a spec, from a fixed seed; without `biases`
// no map and no norm adds one.
TensorsBySlot RandomWeights(const TransformerSpec& spec, uint32_t seed,
                            bool biases = true);

// See AttentionSpec.
double Softcap(double cap, double x);

// The formulas of the papers over padded batches, in double, one number after
// the other, with masks written out: what the transformer must be equal to.
class NaiveTransformer {
 public:
  NaiveTransformer(const TransformerSpec& spec, const TensorsBySlot& weights)
      : spec_(spec), weights_(weights) {}

  struct Input {
    std::vector<int> ids;
    std::vector<int> types = {};  // empty: 0
  };
  // One padded input of n tokens, and mask [1, n, n].
  Rows Encode(const Input& input, const AttentionMask& mask) const;
  // Logits after each of the decoder's tokens, of which the request came with
  // `given` (see RotarySpec). `cross` is [1, target, source].
  Rows Decode(const std::vector<int>& ids, const Rows& encoded,
              const AttentionMask& cross, int given = 0) const;
  // What the encoder's output comes to, [1, width] and [rows or 1, out].
  Rows Vector(const Rows& encoded) const;
  Rows Head(const Rows& encoded) const;

 private:
  using Map = std::function<Rows(const Rows&)>;
  // Of a head's score, by the distance from query to key.
  using Bias = std::function<double(int head, int distance)>;

  Rows Embed(const std::string& slot, const EmbeddingSpec& spec,
             const Input& input) const;
  double PositionOf(const std::string& slot, const EmbeddingSpec& spec,
                    int width, int row, bool none, int column) const;
  double BiasOf(const std::string& slot, const RelativeBiasSpec& spec,
                int heads, bool bidirectional, int head, int distance) const;
  Bias StackBias(const std::string& name, const StackSpec& stack) const;
  double FrequencyOf(const RotarySpec& spec, int i, int length) const;
  void Turn(const AttentionSpec& spec, int heads, int given, Rows& x) const;
  // Of each head by itself.
  Rows HeadNorm(const std::string& slot, const AttentionSpec& spec,
                const Rows& x) const;
  Rows Linear(const std::string& slot, const Rows& x) const;
  Rows Norm(const std::string& slot, const NormSpec& spec, const Rows& x) const;
  Rows Attention(const std::string& slot, const AttentionSpec& spec,
                 const Rows& x, const Rows& memory, const AttentionMask& mask,
                 const Bias& bias, int given) const;
  Rows FeedForward(const std::string& slot, const FeedForwardSpec& spec,
                   const Rows& x) const;
  Rows Dense(const std::string& slot, const std::vector<DenseSpec>& layers,
             Rows x) const;
  // What a branch gives, before it is added.
  Rows Branch(const std::string& slot, const LayerSpec& layer, bool has_norm,
              const Rows& x, const Map& f) const;
  Rows Layer(const std::string& slot, const LayerSpec& layer, const Rows& x,
             const Map& attend, const Map& attend_across) const;
  Rows FinalNorm(const std::string& name, const StackSpec& stack,
                 const Rows& x) const;
  Rows Logits(const Rows& x) const;

  const TransformerSpec& spec_;
  const TensorsBySlot& weights_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_NAIVE_TRANSFORMER_H_
