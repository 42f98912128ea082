#include "tests/engine/transformer/naive_transformer.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

Rows Add(const Rows& a, const Rows& b) {
  Rows sum = a;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) sum[i][j] += b[i][j];
  }
  return sum;
}

// `first`: the position of the first row.
std::vector<double> Pooled(Pooling pooling, const Rows& x, int first = 0) {
  if (pooling == Pooling::kCls) return x.front();
  if (pooling == Pooling::kLast) return x.back();
  std::vector<double> vector = x.front();
  for (size_t j = 0; j < vector.size(); ++j) {
    double sum = 0, weighted = 0, weights = 0;
    for (size_t r = 0; r < x.size(); ++r) {
      sum += x[r][j];
      weighted += (first + r + 1) * x[r][j];
      weights += first + r + 1;
      vector[j] = std::max(vector[j], x[r][j]);
    }
    if (pooling == Pooling::kMean) vector[j] = sum / x.size();
    if (pooling == Pooling::kMeanSqrtLength) {
      vector[j] = sum / std::sqrt(x.size());
    }
    if (pooling == Pooling::kWeightedMean) vector[j] = weighted / weights;
  }
  return vector;
}

}  // namespace

Rows NaiveTransformer::Embed(const std::string& slot, const EmbeddingSpec& spec,
                             const Input& input) const {
  const auto& tokens = weights_.at(slot + ".tokens").values;
  Rows x(input.ids.size(), std::vector<double>(spec.width));
  const double dropped =
      std::count(input.ids.begin(), input.ids.end(), spec.dropped_id);
  const double scale = spec.scale / (1 - dropped / input.ids.size());
  for (size_t i = 0; i < x.size(); ++i) {
    for (int j = 0; j < spec.width; ++j) {
      if (spec.zero_start && i == 0) continue;
      if (input.ids[i] == spec.dropped_id) continue;
      x[i][j] = tokens[input.ids[i] * spec.width + j] * scale;
    }
  }
  if (spec.norms_tokens) x = Norm(slot + ".norm", *spec.norm, x);
  if (spec.projects_tokens) x = Linear(slot + ".projection", x);
  const int width = static_cast<int>(x[0].size());
  int counted = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool counts = input.ids[i] != spec.uncounted_id;
    int position = static_cast<int>(i);
    if (spec.uncounted_id >= 0) position = counts ? counted++ : -1;
    const int row = position + spec.position_offset;
    for (int j = 0; j < width; ++j) {
      double& value = x[i][j];
      if (spec.token_types > 0) {
        const int type = input.types.empty() ? 0 : input.types[i];
        value += weights_.at(slot + ".types").values[type * width + j];
      }
      if (spec.task_types > 0) value += weights_.at(slot + ".tasks").values[j];
      value += PositionOf(slot, spec, width, row, position < 0, j);
    }
  }
  if (spec.norm && !spec.norms_tokens) x = Norm(slot + ".norm", *spec.norm, x);
  return width == spec_.hidden ? x : Linear(slot + ".projection", x);
}

double NaiveTransformer::PositionOf(const std::string& slot,
                                    const EmbeddingSpec& spec, int width,
                                    int row, bool none, int column) const {
  const int sines = (width + 1) / 2;
  const int pair = column < sines ? column : column - sines;
  double frequency = std::pow(10000.0, -2.0 * pair / width);
  switch (spec.positions) {
    case Positions::kNone:
      return 0;
    case Positions::kLearned:
      return weights_.at(slot + ".positions").values[row * width + column];
    case Positions::kSinusoidalToEnd:
      if (none) return 0;
      frequency = std::pow(10000.0, -pair / (width / 2 - 1.0));
      break;
    case Positions::kSinusoidal:
      break;
  }
  const double angle = row * frequency;
  return column < sines ? std::sin(angle) : std::cos(angle);
}

NaiveTransformer::Bias NaiveTransformer::StackBias(const std::string& name,
                                                   const StackSpec& stack,
                                                   size_t layer) const {
  if (!stack.relative_bias) return [](int, int) { return 0.0; };
  const std::string owner =
      stack.relative_bias->per_layer ? absl::StrCat(name, ".", layer) : name;
  return [this, name, owner, &stack](int head, int distance) {
    return BiasOf(owner + ".relative_bias", *stack.relative_bias,
                  stack.layers[0].self_attention.heads, name == "encoder", head,
                  distance);
  };
}

Rows NaiveTransformer::Branch(const std::string& slot, const LayerSpec& layer,
                              bool has_norm, const Rows& x,
                              const Map& f) const {
  const bool first = has_norm && layer.norm_place == NormPlace::kPre;
  const Rows y = f(first ? Norm(slot + ".norm", layer.norm, x) : x);
  return layer.branch_norm ? Norm(slot + ".branch_norm", layer.norm, y) : y;
}

Rows NaiveTransformer::Layer(const std::string& slot, const LayerSpec& layer,
                             const Rows& x, const Map& attend,
                             const Map& attend_across) const {
  const auto sum = [&](const std::string& branch, const Rows& a,
                       const Rows& b) {
    const Rows y = Add(a, b);
    if (layer.norm_place == NormPlace::kPre) return y;
    return Norm(slot + branch + ".norm", layer.norm, y);
  };
  const Map feed = [&](const Rows& y) {
    return FeedForward(slot + ".ffn", layer.feed_forward, y);
  };
  Rows y = Branch(slot + ".self", layer, layer.self_norm, x, attend);
  if (layer.sum_norm) y = Norm(slot + ".self.sum_norm", layer.norm, Add(x, y));
  y = sum(".self", x, y);
  if (layer.cross_attention) {
    y = sum(".cross", y,
            Branch(slot + ".cross", layer, true, y, attend_across));
  }
  return sum(".ffn", y,
             Branch(slot + ".ffn", layer, layer.ffn_norm,
                    layer.parallel ? x : y, feed));
}

Rows NaiveTransformer::FinalNorm(const std::string& name,
                                 const StackSpec& stack, const Rows& x) const {
  if (stack.layers.empty()) return x;
  const LayerSpec& first = stack.layers[0];
  if (first.norm_place == NormPlace::kPost) return x;
  return Norm(name + ".norm", first.norm, x);
}

Rows NaiveTransformer::Encode(const Input& input,
                              const AttentionMask& mask) const {
  const StackSpec& stack = *spec_.encoder;
  Rows x = Embed("encoder.embedding", stack.embedding, input);
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    const std::string slot = absl::StrCat("encoder.", i);
    const Products products =
        DistanceProducts(slot, stack, layer.self_attention);
    const Bias bias = StackBias("encoder", stack, i);
    const Map attend = [&](const Rows& y) {
      return Attention(slot + ".self", layer.self_attention, y, y, mask, bias,
                       products, 0);
    };
    const Rows y = Layer(slot, layer, x, attend, nullptr);
    x = i == 0 && stack.convolution ? Convolve(*stack.convolution, mask, x, y)
                                    : y;
  }
  return FinalNorm("encoder", stack, x);
}

Rows NaiveTransformer::Decode(const std::vector<int>& ids, const Rows& encoded,
                              const AttentionMask& cross, int given) const {
  const StackSpec& stack = *spec_.decoder;
  const int length = static_cast<int>(ids.size());
  const AttentionMask causal = CausalMask(1, length, length);
  const Bias none = [](int, int) { return 0.0; };
  Rows x = Embed("decoder.embedding", stack.embedding, {.ids = ids});
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    const std::string slot = absl::StrCat("decoder.", i);
    const Bias bias = StackBias("decoder", stack, i);
    const Map attend = [&](const Rows& y) {
      return Attention(slot + ".self", layer.self_attention, y, y, causal, bias,
                       nullptr, given);
    };
    const Map attend_across = [&](const Rows& y) {
      return Attention(slot + ".cross", *layer.cross_attention, y, encoded,
                       cross, none, nullptr, 0);
    };
    x = Layer(slot, layer, x, attend, attend_across);
  }
  x = FinalNorm("decoder", stack, x);
  for (auto& row : x) {
    for (double& v : row) v *= double{spec_.logits_scale};
  }
  if (const auto& projection = spec_.logits_projection) {
    x = DenseLayer("logits.projection",
                   {.out = projection->out,
                    .activation = projection->activation,
                    .norm = projection->norm},
                   x);
  }
  return Logits(x);
}

Rows NaiveTransformer::Logits(const Rows& x) const {
  Rows logits = Linear("logits", x);
  for (auto& row : logits) {
    for (double& v : row) v = Softcap(spec_.logits_softcap, v);
  }
  return logits;
}

Rows NaiveTransformer::Vector(const Rows& encoded, int route) const {
  const EmbedSpec& embed = spec_.Route(route);
  const int first = embed.pools_prompt ? 0 : kPromptRows;
  const Rows pooled(encoded.begin() + first, encoded.end());
  std::vector<double> all;
  for (const Pooling pooling : embed.poolings) {
    for (const double v : Pooled(pooling, pooled, first)) all.push_back(v);
  }
  Rows x = Dense(RouteSlot(route), embed.layers, {all});
  if (!embed.normalize) return x;
  double square = 0;
  for (double v : x[0]) square += v * v;
  for (double& v : x[0]) v /= std::sqrt(square);
  return x;
}

Rows NaiveTransformer::Sparse(const Rows& encoded, int route) const {
  const SparseSpec& sparse = *spec_.Route(route).sparse;
  if (!sparse.layers.empty()) return Dense("sparse", sparse.layers, encoded);
  const Rows logits = Head(encoded);
  Rows weights(1, std::vector<double>(logits[0].size()));
  for (const auto& row : logits) {
    for (size_t i = 0; i < row.size(); ++i) {
      double weight = std::max(row[i], 0.0);
      for (int log = 0; log < sparse.logs; ++log) weight = std::log(1 + weight);
      double& pooled = weights[0][i];
      pooled = sparse.sums ? pooled + weight : std::max(pooled, weight);
    }
  }
  return weights;
}

Rows NaiveTransformer::Tokens(const Rows& encoded) const {
  return Dense("tokens", spec_.embed.tokens->layers, encoded);
}

Rows NaiveTransformer::Head(const Rows& encoded) const {
  const HeadSpec& head = *spec_.head;
  if (head.pools_outputs) {
    return {Pooled(head.pooling, Dense("head", head.layers, encoded))};
  }
  if (!ReadsTokens(head.kind)) {
    return Dense("head", head.layers, {Pooled(head.pooling, encoded)});
  }
  const Rows x = Dense("head", head.layers, encoded);
  return head.kind == HeadKind::kMaskedLm ? Logits(x) : x;
}

}  // namespace attend
