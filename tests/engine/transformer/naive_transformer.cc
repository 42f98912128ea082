#include "tests/engine/transformer/naive_transformer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

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

double Softcap(double cap, double x) {
  return cap > 0 ? cap * std::tanh(x / cap) : x;
}

void Clip(double most, Rows& x) {
  if (most == 0) return;
  for (auto& row : x) {
    for (double& v : row) v = std::clamp(v, -most, most);
  }
}

}  // namespace

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
      const double weight = gamma[i] + (spec.unit_offset ? 1.0 : 0.0);
      row[i] = (row[i] - mean) / std::sqrt(variance + spec.epsilon) * weight;
      if (beta != weights_.end()) row[i] += beta->second.values[i];
    }
  }
  return y;
}

Rows NaiveTransformer::HeadNorm(const std::string& slot,
                                const AttentionSpec& spec,
                                const Rows& x) const {
  Rows y = x;
  for (auto& row : y) {
    for (size_t at = 0; at < row.size(); at += spec.head_dim) {
      const Rows head =
          Norm(slot, *spec.head_norm,
               {{row.begin() + at, row.begin() + at + spec.head_dim}});
      std::copy(head[0].begin(), head[0].end(), row.begin() + at);
    }
  }
  return y;
}

Rows NaiveTransformer::Embed(const std::string& slot, const EmbeddingSpec& spec,
                             const Input& input) const {
  const auto& tokens = weights_.at(slot + ".tokens").values;
  Rows x(input.ids.size(), std::vector<double>(spec.width));
  for (size_t i = 0; i < x.size(); ++i) {
    for (int j = 0; j < spec.width; ++j) {
      x[i][j] = tokens[input.ids[i] * spec.width + j] * double{spec.scale};
    }
  }
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
      value += PositionOf(slot, spec, width, row, position < 0, j);
    }
  }
  if (spec.norm) x = Norm(slot + ".norm", *spec.norm, x);
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

double NaiveTransformer::FrequencyOf(const RotarySpec& spec, int i,
                                     int length) const {
  if (spec.original_positions == 0 || length <= spec.original_positions) {
    return spec.frequencies[i];
  }
  if (!spec.long_frequencies.empty()) return spec.long_frequencies[i];
  const double dims = 2.0 * spec.frequencies.size();
  const double stretch =
      spec.factor * length / spec.original_positions - (spec.factor - 1);
  const double theta = spec.theta * std::pow(stretch, dims / (dims - 2));
  return std::pow(theta, -2 * i / dims);
}

void NaiveTransformer::Turn(const AttentionSpec& spec, int heads, int given,
                            Rows& x) const {
  if (!spec.rotary) return;
  const int half = static_cast<int>(spec.rotary->frequencies.size());
  const double magnitude = spec.rotary->magnitude;
  const bool whole = !spec.rotary->long_frequencies.empty();
  for (int position = 0; position < static_cast<int>(x.size()); ++position) {
    int length = static_cast<int>(x.size());
    if (!whole) length = position < given ? given : position + 1;
    for (int i = 0; i < heads * half; ++i) {
      const int at = i / half * spec.head_dim + i % half;
      const double angle =
          position * FrequencyOf(*spec.rotary, i % half, length);
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
                                 const Bias& bias, int given) const {
  Rows query = Linear(slot + ".q", x);
  Rows key = Linear(slot + ".k", memory);
  Rows value = Linear(slot + ".v", memory);
  for (Rows* rows : {&query, &key, &value}) Clip(spec.clip, *rows);
  if (spec.head_norm) {
    query = HeadNorm(slot + ".q.norm", spec, query);
    key = HeadNorm(slot + ".k.norm", spec, key);
  }
  Turn(spec, spec.heads, given, query);
  Turn(spec, spec.kv_heads, given, key);
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
        double score = Softcap(spec.softcap, dot * spec.scale);
        if (!spec.slopes.empty()) score += spec.slopes[head] * distance;
        weight[k] = std::exp(score + bias(head, distance));
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

Rows NaiveTransformer::Branch(const std::string& slot, const LayerSpec& layer,
                              bool has_norm, const Rows& x,
                              const std::function<Rows(const Rows&)>& f) const {
  if (layer.norm_place == NormPlace::kPost) {
    return Norm(slot + ".norm", layer.norm, Add(x, f(x)));
  }
  Rows y = f(has_norm ? Norm(slot + ".norm", layer.norm, x) : x);
  if (layer.branch_norm) y = Norm(slot + ".branch_norm", layer.norm, y);
  return Add(x, y);
}

Rows NaiveTransformer::Encode(const Input& input,
                              const AttentionMask& mask) const {
  const StackSpec& stack = *spec_.encoder;
  const Bias bias = StackBias("encoder", stack);
  Rows x = Embed("encoder.embedding", stack.embedding, input);
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    const std::string p = absl::StrCat("encoder.", i);
    x = Branch(p + ".self", layer, layer.self_norm, x, [&](const Rows& y) {
      return Attention(p + ".self", layer.self_attention, y, y, mask, bias, 0);
    });
    x = Branch(p + ".ffn", layer, true, x, [&](const Rows& y) {
      return FeedForward(p + ".ffn", layer.feed_forward, y);
    });
  }
  const LayerSpec& first = stack.layers[0];
  return first.norm_place == NormPlace::kPre
             ? Norm("encoder.norm", first.norm, x)
             : x;
}

Rows NaiveTransformer::Decode(const std::vector<int>& ids, const Rows& encoded,
                              const AttentionMask& cross, int given) const {
  const StackSpec& stack = *spec_.decoder;
  const int length = static_cast<int>(ids.size());
  const AttentionMask causal = CausalMask(1, length, length);
  const Bias bias = StackBias("decoder", stack);
  const Bias none = [](int, int) { return 0.0; };
  Rows x = Embed("decoder.embedding", stack.embedding, {.ids = ids});
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    const std::string p = absl::StrCat("decoder.", i);
    const Rows before = x;
    x = Branch(p + ".self", layer, layer.self_norm, x, [&](const Rows& y) {
      return Attention(p + ".self", layer.self_attention, y, y, causal, bias,
                       given);
    });
    if (layer.cross_attention) {
      x = Branch(p + ".cross", layer, true, x, [&](const Rows& y) {
        return Attention(p + ".cross", *layer.cross_attention, y, encoded,
                         cross, none, 0);
      });
    }
    const auto feed = [&](const Rows& y) {
      return FeedForward(p + ".ffn", layer.feed_forward, y);
    };
    if (layer.parallel) {
      // Both branches read what came in; it is counted once.
      x = Add(x, Branch(p + ".ffn", layer, true, before, feed));
      for (size_t r = 0; r < x.size(); ++r) {
        for (size_t j = 0; j < x[r].size(); ++j) x[r][j] -= before[r][j];
      }
    } else {
      x = Branch(p + ".ffn", layer, true, x, feed);
    }
  }
  const LayerSpec& first = stack.layers[0];
  if (first.norm_place == NormPlace::kPre) {
    x = Norm("decoder.norm", first.norm, x);
  }
  for (auto& row : x) {
    for (double& v : row) v *= double{spec_.logits_scale};
  }
  if (spec_.logits_width > 0) x = Linear("logits.projection", x);
  Rows logits = Linear("logits", x);
  for (auto& row : logits) {
    for (double& v : row) v = Softcap(spec_.logits_softcap, v);
  }
  return logits;
}

}  // namespace attend
