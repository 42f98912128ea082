#include "tests/engine/transformer/naive_transformer.h"

#include <cmath>
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

TensorsBySlot RandomWeights(const TransformerSpec& spec, uint32_t seed) {
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
    make(slot + ".bias", {out}, 0, 0.3);
  };
  const int hidden = spec.hidden;
  const auto norm = [&](const std::string& slot) {
    make(slot + ".weight", {hidden}, 1, 0.2);
    make(slot + ".bias", {hidden}, 0, 0.2);
  };
  const auto attention = [&](const std::string& slot,
                             const AttentionSpec& shape) {
    const int kv = shape.kv_heads * shape.head_dim;
    linear(slot + ".q", hidden, shape.heads * shape.head_dim);
    linear(slot + ".k", hidden, kv);
    linear(slot + ".v", hidden, kv);
    linear(slot + ".out", shape.heads * shape.head_dim, hidden);
    norm(slot + ".norm");
  };
  const auto stack = [&](const std::string& name, const StackSpec& stack_spec) {
    for (size_t i = 0; i < stack_spec.layers.size(); ++i) {
      const LayerSpec& layer = stack_spec.layers[i];
      const std::string prefix = absl::StrCat(name, ".", i);
      attention(prefix + ".self", layer.self_attention);
      if (layer.cross_attention) {
        attention(prefix + ".cross", *layer.cross_attention);
      }
      linear(prefix + ".ffn.in", hidden, layer.feed_forward.width);
      linear(prefix + ".ffn.out", layer.feed_forward.width, hidden);
      norm(prefix + ".ffn.norm");
    }
    if (stack_spec.layers[0].norm_place == NormPlace::kPre) {
      norm(name + ".norm");
    }
  };
  make("encoder.embedding.tokens", {spec.encoder->embedding.vocab, hidden}, 0,
       0.5);
  make("decoder.embedding.tokens", {spec.decoder->embedding.vocab, hidden}, 0,
       0.5);
  make("logits.weight", {spec.decoder->embedding.vocab, hidden}, 0, 0.5);
  if (spec.logits_bias) {
    make("logits.bias", {spec.decoder->embedding.vocab}, 0, 0.5);
  }
  stack("encoder", *spec.encoder);
  stack("decoder", *spec.decoder);
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
  const auto& beta = weights_.at(slot + ".bias").values;
  Rows y = x;
  for (auto& row : y) {
    double mean = 0;
    double variance = 0;
    for (double v : row) mean += v / row.size();
    for (double v : row) variance += (v - mean) * (v - mean) / row.size();
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - mean) / std::sqrt(variance + spec.epsilon) * gamma[i] +
               beta[i];
    }
  }
  return y;
}

Rows NaiveTransformer::Embed(const std::string& table,
                             const EmbeddingSpec& spec,
                             const std::vector<int>& ids) const {
  const auto& values = weights_.at(table).values;
  const int hidden = spec_.hidden;
  const int sines = (hidden + 1) / 2;
  Rows x(ids.size(), std::vector<double>(hidden));
  for (size_t position = 0; position < ids.size(); ++position) {
    for (int j = 0; j < hidden; ++j) {
      const int pair = j < sines ? j : j - sines;
      const double angle = position / std::pow(10000.0, 2.0 * pair / hidden);
      x[position][j] = values[ids[position] * hidden + j] * spec.scale +
                       (j < sines ? std::sin(angle) : std::cos(angle));
    }
  }
  return x;
}

Rows NaiveTransformer::Attention(const std::string& slot,
                                 const AttentionSpec& spec, const Rows& x,
                                 const Rows& memory,
                                 const AttentionMask& mask) const {
  const Rows query = Linear(slot + ".q", x);
  const Rows key = Linear(slot + ".k", memory);
  const Rows value = Linear(slot + ".v", memory);
  Rows joined(x.size(), std::vector<double>(spec.heads * spec.head_dim));
  for (int head = 0; head < spec.heads; ++head) {
    const int q0 = head * spec.head_dim;
    const int k0 = head / (spec.heads / spec.kv_heads) * spec.head_dim;
    for (size_t r = 0; r < x.size(); ++r) {
      std::vector<double> weight(memory.size(), 0);
      double total = 0;
      for (size_t k = 0; k < memory.size(); ++k) {
        if (!mask.Visible(0, static_cast<int>(r), static_cast<int>(k)))
          continue;
        double dot = 0;
        for (int d = 0; d < spec.head_dim; ++d) {
          dot += query[r][q0 + d] * key[k][k0 + d];
        }
        weight[k] = std::exp(dot * spec.scale);
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
  for (auto& row : inner) {
    for (double& v : row) v = Activate(spec.activation, v);
  }
  return Linear(slot + ".out", inner);
}

Rows NaiveTransformer::Encode(const std::vector<int>& ids,
                              const AttentionMask& mask) const {
  Rows x = Embed("encoder.embedding.tokens", spec_.encoder->embedding, ids);
  for (size_t i = 0; i < spec_.encoder->layers.size(); ++i) {
    const LayerSpec& layer = spec_.encoder->layers[i];
    const std::string p = absl::StrCat("encoder.", i);
    const auto attend = [&](const Rows& y) {
      return Attention(p + ".self", layer.self_attention, y, y, mask);
    };
    const auto feed = [&](const Rows& y) {
      return FeedForward(p + ".ffn", layer.feed_forward, y);
    };
    if (layer.norm_place == NormPlace::kPre) {
      x = Add(x, attend(Norm(p + ".self.norm", layer.norm, x)));
      x = Add(x, feed(Norm(p + ".ffn.norm", layer.norm, x)));
    } else {
      x = Norm(p + ".self.norm", layer.norm, Add(x, attend(x)));
      x = Norm(p + ".ffn.norm", layer.norm, Add(x, feed(x)));
    }
  }
  const LayerSpec& first = spec_.encoder->layers[0];
  return first.norm_place == NormPlace::kPre
             ? Norm("encoder.norm", first.norm, x)
             : x;
}

Rows NaiveTransformer::Decode(const std::vector<int>& ids, const Rows& encoded,
                              const AttentionMask& cross) const {
  const int length = static_cast<int>(ids.size());
  const AttentionMask causal = CausalMask(1, length, length);
  Rows x = Embed("decoder.embedding.tokens", spec_.decoder->embedding, ids);
  for (size_t i = 0; i < spec_.decoder->layers.size(); ++i) {
    const LayerSpec& layer = spec_.decoder->layers[i];
    const std::string p = absl::StrCat("decoder.", i);
    const auto self = [&](const Rows& y) {
      return Attention(p + ".self", layer.self_attention, y, y, causal);
    };
    const auto look = [&](const Rows& y) {
      return Attention(p + ".cross", *layer.cross_attention, y, encoded, cross);
    };
    const auto feed = [&](const Rows& y) {
      return FeedForward(p + ".ffn", layer.feed_forward, y);
    };
    if (layer.norm_place == NormPlace::kPre) {
      x = Add(x, self(Norm(p + ".self.norm", layer.norm, x)));
      x = Add(x, look(Norm(p + ".cross.norm", layer.norm, x)));
      x = Add(x, feed(Norm(p + ".ffn.norm", layer.norm, x)));
    } else {
      x = Norm(p + ".self.norm", layer.norm, Add(x, self(x)));
      x = Norm(p + ".cross.norm", layer.norm, Add(x, look(x)));
      x = Norm(p + ".ffn.norm", layer.norm, Add(x, feed(x)));
    }
  }
  const LayerSpec& first = spec_.decoder->layers[0];
  if (first.norm_place == NormPlace::kPre) {
    x = Norm("decoder.norm", first.norm, x);
  }
  Rows logits = Linear("logits", x);
  return logits;
}

}  // namespace attend
