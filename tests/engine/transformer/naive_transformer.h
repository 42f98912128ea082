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

// The rows of a prompt, where it is not pooled.
inline constexpr int kPromptRows = 2;

// A tensor of the naive transformer: rows of doubles.
using Rows = std::vector<std::vector<double>>;

struct NamedTensor {
  std::vector<int64_t> shape;
  std::vector<float> values;
};
using TensorsBySlot = std::map<std::string, NamedTensor>;

// Random weights for every slot of a spec, from a seed. Without `biases` no
// linear map and no norm has a bias.
TensorsBySlot RandomWeights(const TransformerSpec& spec, uint32_t seed,
                            bool biases = true);

// See AttentionSpec.
double Softcap(double cap, double x);

// The reference for the transformer: the formulas of the papers over padded
// batches, in double, one number after the other, with masks as matrices.
class NaiveTransformer {
 public:
  NaiveTransformer(const TransformerSpec& spec, const TensorsBySlot& weights)
      : spec_(spec), weights_(weights) {}

  struct Input {
    std::vector<int> ids;
    std::vector<int> types = {};  // empty: 0
  };
  // Encodes one padded input of n tokens; the mask is [1, n, n].
  Rows Encode(const Input& input, const AttentionMask& mask) const;
  // The logits after each of the decoder's tokens; the first `given` of these
  // are the prompt (see RotarySpec). `cross` is [1, target, source].
  Rows Decode(const std::vector<int>& ids, const Rows& encoded,
              const AttentionMask& cross, int given = 0) const;
  // The embedding [1, width] of the encoder's output on a route, and the result
  // of the head, [rows or 1, out].
  Rows Vector(const Rows& encoded, int route) const;
  Rows Sparse(const Rows& encoded, int route) const;
  Rows Tokens(const Rows& encoded) const;
  Rows Head(const Rows& encoded) const;

 private:
  using Map = std::function<Rows(const Rows&)>;
  // The bias of a head's score by the distance from query to key.
  using Bias = std::function<double(int head, int distance)>;
  // What distances add to the product of a head's query and key, which are
  // those of the whole row.
  using Products = std::function<double(int head, int distance,
                                        const std::vector<double>& query,
                                        const std::vector<double>& key)>;

  Rows Embed(const std::string& slot, const EmbeddingSpec& spec,
             const Input& input) const;
  double PositionOf(const std::string& slot, const EmbeddingSpec& spec,
                    int width, int row, bool none, int column) const;
  double BiasOf(const std::string& slot, const RelativeBiasSpec& spec,
                int heads, bool bidirectional, int head, int distance) const;
  Bias StackBias(const std::string& name, const StackSpec& stack,
                 size_t layer) const;
  Products DistanceProducts(const std::string& layer, const StackSpec& stack,
                            const AttentionSpec& spec) const;
  double FrequencyOf(const RotarySpec& spec, int i, int length) const;
  // `slot`: that of the attention.
  void Turn(const std::string& slot, const AttentionSpec& spec, int heads,
            int given, Rows& x) const;
  // Normalises each head by itself, or with joint_norm all of them; with
  // norm_by_head by slot "<slot>.<head>".
  Rows HeadNorm(const std::string& slot, const AttentionSpec& spec,
                const Rows& x) const;
  Rows Linear(const std::string& slot, const Rows& x) const;
  Rows Norm(const std::string& slot, const NormSpec& spec, const Rows& x) const;
  Rows Attention(const std::string& slot, const AttentionSpec& spec,
                 const Rows& x, const Rows& memory, const AttentionMask& mask,
                 const Bias& bias, const Products& products, int given) const;
  Rows FeedForward(const std::string& slot, const FeedForwardSpec& spec,
                   const Rows& x) const;
  Rows Experts(const std::string& slot, const FeedForwardSpec& spec,
               const Rows& x) const;
  Rows DenseLayer(const std::string& name, const DenseSpec& layer,
                  Rows x) const;
  Rows Dense(const std::string& slot, const std::vector<DenseSpec>& layers,
             Rows x) const;
  // The output of a branch, before it is added to x.
  Rows Branch(const std::string& slot, const LayerSpec& layer, bool has_norm,
              const Rows& x, const Map& f) const;
  Rows Layer(const std::string& slot, const LayerSpec& layer, const Rows& x,
             const Map& attend, const Map& attend_across) const;
  // `x`: the embeddings. `y`: the output of the first layer.
  Rows Convolve(const ConvolutionSpec& spec, const AttentionMask& mask,
                const Rows& x, const Rows& y) const;
  Rows FinalNorm(const std::string& name, const StackSpec& stack,
                 const Rows& x) const;
  Rows Logits(const Rows& x) const;

  const TransformerSpec& spec_;
  const TensorsBySlot& weights_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_NAIVE_TRANSFORMER_H_
