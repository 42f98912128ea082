#include "tests/engine/transformer/naive_transformer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

double Activate(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
  }
  return x;
}

Rows Add(const Rows& a, const Rows& b) {
  Rows sum = a;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) sum[i][j] += b[i][j];
  }
  return sum;
}

}  // namespace

TensorsBySlot RandomWeights(const TransformerSpec& spec, uint32_t seed,
                            bool biases) {
  std::mt19937 random(seed);
  TensorsBySlot tensors;
  const auto make = [&](const std::string& slot, std::vector<int64_t> shape,
                        double mean, double deviation) {
    size_t count = 1;
    for (int64_t n : shape) count *= n;
    std::normal_distribution<float> normal(mean, deviation);
    NamedTensor tensor{.shape = std::move(shape), .values = {}};
    for (size_t i = 0; i < count; ++i) tensor.values.push_back(normal(random));
    tensors[slot] = std::move(tensor);
  };
  const auto linear = [&](const std::string& slot, int in, int out) {
    make(slot + ".weight", {out, in}, 0, 1.5 / std::sqrt(in));
    if (biases) make(slot + ".bias", {out}, 0, 0.3);
  };
  const int hidden = spec.hidden;
  const auto norm = [&](const std::string& slot, int size,
                        const NormSpec& norm_spec) {
    make(slot + ".weight", {size}, 1, 0.2);
    if (biases && norm_spec.kind == NormKind::kLayerNorm) {
      make(slot + ".bias", {size}, 0, 0.2);
    }
  };
  const auto attention = [&](const std::string& slot,
                             const AttentionSpec& shape) {
    const int kv = shape.kv_heads * shape.head_dim;
    linear(slot + ".q", hidden, shape.heads * shape.head_dim);
    linear(slot + ".k", hidden, kv);
    linear(slot + ".v", hidden, kv);
    linear(slot + ".out", shape.heads * shape.head_dim, hidden);
  };
  const auto embedding = [&](const std::string& slot,
                             const EmbeddingSpec& table) {
    make(slot + ".tokens", {table.vocab, table.width}, 0, 0.5);
    if (table.positions == Positions::kLearned) {
      make(slot + ".positions",
           {table.max_positions + table.position_offset, table.width}, 0, 0.5);
    }
    if (table.token_types > 0) {
      make(slot + ".types", {table.token_types, table.width}, 0, 0.5);
    }
    if (table.norm) norm(slot + ".norm", table.width, *table.norm);
    if (table.width != hidden) {
      linear(slot + ".projection", table.width, hidden);
    }
  };
  const auto stack = [&](const std::string& name, const StackSpec& stack_spec) {
    embedding(name + ".embedding", stack_spec.embedding);
    if (stack_spec.relative_bias) {
      make(name + ".relative_bias",
           {stack_spec.relative_bias->buckets,
            stack_spec.layers[0].self_attention.heads},
           0, 1);
    }
    for (size_t i = 0; i < stack_spec.layers.size(); ++i) {
      const LayerSpec& layer = stack_spec.layers[i];
      const std::string prefix = absl::StrCat(name, ".", i);
      attention(prefix + ".self", layer.self_attention);
      if (layer.self_norm) norm(prefix + ".self.norm", hidden, layer.norm);
      if (layer.cross_attention) {
        attention(prefix + ".cross", *layer.cross_attention);
        norm(prefix + ".cross.norm", hidden, layer.norm);
      }
      const FeedForwardSpec& feed = layer.feed_forward;
      if (feed.gated) linear(prefix + ".ffn.gate", hidden, feed.width);
      linear(prefix + ".ffn.in", hidden, feed.width);
      linear(prefix + ".ffn.out", feed.width, hidden);
      norm(prefix + ".ffn.norm", hidden, layer.norm);
    }
    if (stack_spec.layers[0].norm_place == NormPlace::kPre) {
      norm(name + ".norm", hidden, stack_spec.layers[0].norm);
    }
  };
  stack("encoder", *spec.encoder);
  if (!spec.decoder) return tensors;
  stack("decoder", *spec.decoder);
  make("logits.weight", {spec.decoder->embedding.vocab, hidden}, 0, 0.5);
  if (spec.logits_bias) {
    make("logits.bias", {spec.decoder->embedding.vocab}, 0, 0.5);
  }
  return tensors;
}

Rows NaiveTransformer::Linear(const std::string& slot, const Rows& x) const {
  const NamedTensor& weight = weights_.at(slot + ".weight");
  const auto bias = weights_.find(slot + ".bias");
  const size_t out = weight.shape[0];
  const size_t in = weight.shape[1];
  Rows y(x.size(), std::vector<double>(out));
  for (size_t r = 0; r < x.size(); ++r) {
    for (size_t o = 0; o < out; ++o) {
      double sum = bias == weights_.end() ? 0 : bias->second.values[o];
      for (size_t i = 0; i < in; ++i) {
        sum += x[r][i] * weight.values[o * in + i];
      }
      y[r][o] = sum;
    }
  }
  return y;
}

Rows NaiveTransformer::Norm(const std::string& slot, const NormSpec& spec,
                            const Rows& x) const {
  const auto& gamma = weights_.at(slot + ".weight").values;
  const auto beta = weights_.find(slot + ".bias");
  Rows y = x;
  for (auto& row : y) {
    double mean = 0;
    if (spec.kind == NormKind::kLayerNorm) {
      for (double v : row) mean += v / row.size();
    }
    double variance = 0;
    for (double v : row) variance += (v - mean) * (v - mean) / row.size();
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - mean) / std::sqrt(variance + spec.epsilon) * gamma[i];
      if (beta != weights_.end()) row[i] += beta->second.values[i];
    }
  }
  return y;
}

Rows NaiveTransformer::Embed(const std::string& slot, const EmbeddingSpec& spec,
                             const Input& input) const {
  const auto& tokens = weights_.at(slot + ".tokens").values;
  const int width = spec.width;
  Rows x(input.ids.size(), std::vector<double>(width));
  int counted = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool counts = input.ids[i] != spec.uncounted_id;
    int position = static_cast<int>(i);
    if (spec.uncounted_id >= 0) position = counts ? counted++ : -1;
    const int row = position + spec.position_offset;
    for (int j = 0; j < width; ++j) {
      double& value = x[i][j];
      value = tokens[input.ids[i] * width + j] * double{spec.scale};
      if (spec.token_types > 0) {
        const int type = input.types.empty() ? 0 : input.types[i];
        value += weights_.at(slot + ".types").values[type * width + j];
      }
      value += PositionOf(slot, spec, row, position < 0, j);
    }
  }
  if (spec.norm) x = Norm(slot + ".norm", *spec.norm, x);
  return width == spec_.hidden ? x : Linear(slot + ".projection", x);
}

double NaiveTransformer::PositionOf(const std::string& slot,
                                    const EmbeddingSpec& spec, int row,
                                    bool none, int column) const {
  const int width = spec.width;
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

double NaiveTransformer::BiasOf(const std::string& slot,
                                const RelativeBiasSpec& spec, int heads,
                                bool bidirectional, int head,
                                int distance) const {
  int buckets = spec.buckets;
  int bucket = 0;
  int far = -distance;  // of a key before the query
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) bucket = buckets;
    far = std::abs(distance);
  }
  far = std::max(far, 0);
  const int exact = buckets / 2;
  if (far >= exact) {
    const double wide =
        std::log(static_cast<double>(far) / exact) /
        std::log(static_cast<double>(spec.max_distance) / exact);
    far = std::min(exact + static_cast<int>(wide * (buckets - exact) + 1e-9),
                   buckets - 1);
  }
  return weights_.at(slot).values[(bucket + far) * heads + head];
}

void NaiveTransformer::Turn(const AttentionSpec& spec, int heads,
                            Rows& x) const {
  if (!spec.rotary) return;
  const int half = static_cast<int>(spec.rotary->frequencies.size());
  const double magnitude = spec.rotary->magnitude;
  for (size_t position = 0; position < x.size(); ++position) {
    for (int i = 0; i < heads * half; ++i) {
      const int at = i / half * spec.head_dim + i % half;
      const double angle =
          position * double{spec.rotary->frequencies[i % half]};
      double& a = x[position][at];
      double& b = x[position][at + half];
      const double turned = a * std::cos(angle) - b * std::sin(angle);
      b = magnitude * (b * std::cos(angle) + a * std::sin(angle));
      a = magnitude * turned;
    }
  }
}

Rows NaiveTransformer::Attention(const std::string& slot,
                                 const AttentionSpec& spec, const Rows& x,
                                 const Rows& memory, const AttentionMask& mask,
                                 const Bias& bias) const {
  Rows query = Linear(slot + ".q", x);
  Rows key = Linear(slot + ".k", memory);
  Turn(spec, spec.heads, query);
  Turn(spec, spec.kv_heads, key);
  const Rows value = Linear(slot + ".v", memory);
  Rows joined(x.size(), std::vector<double>(spec.heads * spec.head_dim));
  for (int head = 0; head < spec.heads; ++head) {
    const int q0 = head * spec.head_dim;
    const int k0 = head / (spec.heads / spec.kv_heads) * spec.head_dim;
    for (size_t r = 0; r < x.size(); ++r) {
      std::vector<double> weight(memory.size(), 0);
      double total = 0;
      for (size_t k = 0; k < memory.size(); ++k) {
        const int distance = static_cast<int>(k) - static_cast<int>(r);
        if (!mask.Visible(0, static_cast<int>(r), static_cast<int>(k)) ||
            (spec.window > 0 && std::abs(distance) > spec.window)) {
          continue;
        }
        double dot = 0;
        for (int d = 0; d < spec.head_dim; ++d) {
          dot += query[r][q0 + d] * key[k][k0 + d];
        }
        weight[k] = std::exp(dot * spec.scale + bias(head, distance));
        total += weight[k];
      }
      for (size_t k = 0; k < memory.size() && total > 0; ++k) {
        for (int d = 0; d < spec.head_dim; ++d) {
          joined[r][q0 + d] += weight[k] / total * value[k][k0 + d];
        }
      }
    }
  }
  return Linear(slot + ".out", joined);
}

Rows NaiveTransformer::FeedForward(const std::string& slot,
                                   const FeedForwardSpec& spec,
                                   const Rows& x) const {
  Rows inner = Linear(slot + ".in", x);
  if (!spec.gated) {
    for (auto& row : inner) {
      for (double& v : row) v = Activate(spec.activation, v);
    }
    return Linear(slot + ".out", inner);
  }
  const Rows gate = Linear(slot + ".gate", x);
  for (size_t r = 0; r < inner.size(); ++r) {
    for (size_t i = 0; i < inner[r].size(); ++i) {
      inner[r][i] *= Activate(spec.activation, gate[r][i]);
    }
  }
  return Linear(slot + ".out", inner);
}

NaiveTransformer::Bias NaiveTransformer::StackBias(
    const std::string& name, const StackSpec& stack) const {
  if (!stack.relative_bias) return [](int, int) { return 0.0; };
  return [this, name, &stack](int head, int distance) {
    return BiasOf(name + ".relative_bias", *stack.relative_bias,
                  stack.layers[0].self_attention.heads, !stack.causal, head,
                  distance);
  };
}

Rows NaiveTransformer::Branch(const std::string& norm, const LayerSpec& layer,
                              bool has_norm, const Rows& x,
                              const std::function<Rows(const Rows&)>& f) const {
  if (layer.norm_place == NormPlace::kPost) {
    return Norm(norm, layer.norm, Add(x, f(x)));
  }
  return Add(x, f(has_norm ? Norm(norm, layer.norm, x) : x));
}

Rows NaiveTransformer::Encode(const Input& input,
                              const AttentionMask& mask) const {
  const StackSpec& stack = *spec_.encoder;
  const Bias bias = StackBias("encoder", stack);
  Rows x = Embed("encoder.embedding", stack.embedding, input);
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    const std::string p = absl::StrCat("encoder.", i);
    x = Branch(p + ".self.norm", layer, layer.self_norm, x, [&](const Rows& y) {
      return Attention(p + ".self", layer.self_attention, y, y, mask, bias);
    });
    x = Branch(p + ".ffn.norm", layer, true, x, [&](const Rows& y) {
      return FeedForward(p + ".ffn", layer.feed_forward, y);
    });
  }
  const LayerSpec& first = stack.layers[0];
  return first.norm_place == NormPlace::kPre
             ? Norm("encoder.norm", first.norm, x)
             : x;
}

Rows NaiveTransformer::Decode(const std::vector<int>& ids, const Rows& encoded,
                              const AttentionMask& cross) const {
  const StackSpec& stack = *spec_.decoder;
  const int length = static_cast<int>(ids.size());
  const AttentionMask causal = CausalMask(1, length, length);
  const Bias bias = StackBias("decoder", stack);
  const Bias none = [](int, int) { return 0.0; };
  Rows x = Embed("decoder.embedding", stack.embedding, {.ids = ids});
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    const std::string p = absl::StrCat("decoder.", i);
    x = Branch(p + ".self.norm", layer, layer.self_norm, x, [&](const Rows& y) {
      return Attention(p + ".self", layer.self_attention, y, y, causal, bias);
    });
    x = Branch(p + ".cross.norm", layer, true, x, [&](const Rows& y) {
      return Attention(p + ".cross", *layer.cross_attention, y, encoded, cross,
                       none);
    });
    x = Branch(p + ".ffn.norm", layer, true, x, [&](const Rows& y) {
      return FeedForward(p + ".ffn", layer.feed_forward, y);
    });
  }
  const LayerSpec& first = stack.layers[0];
  if (first.norm_place == NormPlace::kPre) {
    x = Norm("decoder.norm", first.norm, x);
  }
  for (auto& row : x) {
    for (double& v : row) v *= double{spec_.logits_scale};
  }
  return Linear("logits", x);
}

}  // namespace attend
