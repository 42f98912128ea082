// The parts of the naive transformer's layers.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/engine/transformer/naive_transformer.h"

namespace attend {
namespace {

double Activate(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kReluSquared:
      return x > 0 ? x * x : 0;
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

void Clip(double most, Rows& x) {
  if (most == 0) return;
  for (auto& row : x) {
    for (double& v : row) v = std::clamp(v, -most, most);
  }
}

}  // namespace

double Softcap(double cap, double x) {
  return cap > 0 ? cap * std::tanh(x / cap) : x;
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
  if (spec.joint_norm) return Norm(slot, *spec.head_norm, x);
  Rows y = x;
  for (auto& row : y) {
    for (size_t at = 0; at < row.size(); at += spec.head_dim) {
      const std::string own = "." + std::to_string(at / spec.head_dim);
      const Rows head =
          Norm(spec.norm_by_head ? slot + own : slot, *spec.head_norm,
               {{row.begin() + at, row.begin() + at + spec.head_dim}});
      std::copy(head[0].begin(), head[0].end(), row.begin() + at);
    }
  }
  return y;
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

void NaiveTransformer::Turn(const std::string& slot, const AttentionSpec& spec,
                            int heads, int given, Rows& x) const {
  if (!spec.rotary) return;
  const auto stored =
      weights_.find(slot.substr(0, slot.find('.')) + ".frequencies");
  const int half = static_cast<int>(spec.rotary->frequencies.size());
  const double magnitude = spec.rotary->magnitude;
  const bool whole =
      spec.rotary->recomputes && !spec.rotary->long_frequencies.empty();
  for (int position = 0; position < static_cast<int>(x.size()); ++position) {
    int length = static_cast<int>(x.size());
    if (!whole) length = position < given ? given : position + 1;
    for (int i = 0; i < heads * half; ++i) {
      const int at = i / half * spec.head_dim + i % half;
      const double angle =
          position * (stored == weights_.end()
                          ? FrequencyOf(*spec.rotary, i % half, length)
                          : stored->second.values[i % half]);
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
                                 const Bias& bias, const Products& products,
                                 int given) const {
  Rows query = Linear(slot + ".q", x);
  Rows key = Linear(slot + ".k", memory);
  Rows value = Linear(slot + ".v", memory);
  for (Rows* rows : {&query, &key, &value}) Clip(spec.clip, *rows);
  const auto normalize = [&](bool now) {
    if (!spec.head_norm || !now) return;
    query = HeadNorm(slot + ".q.norm", spec, query);
    key = HeadNorm(slot + ".k.norm", spec, key);
  };
  normalize(!spec.norm_after_rotation);
  Turn(slot, spec, spec.heads, given, query);
  Turn(slot, spec, spec.kv_heads, given, key);
  normalize(spec.norm_after_rotation);
  if (spec.rotates_values) Turn(slot, spec, spec.kv_heads, given, value);
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
        if (products) dot += products(head, distance, query[r], key[k]);
        double score = Softcap(spec.softcap, dot * spec.scale);
        if (!spec.slopes.empty()) {
          score += spec.slopes[head] *
                   (spec.symmetric ? -std::abs(distance) : distance);
        }
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

Rows NaiveTransformer::Experts(const std::string& slot,
                               const FeedForwardSpec& spec,
                               const Rows& x) const {
  const auto bias = weights_.find(slot + ".experts.bias");
  FeedForwardSpec network = spec;
  network.experts.reset();
  Rows y;
  for (size_t r = 0; r < x.size(); ++r) {
    std::vector<double> weights = Linear(slot + ".router", {x[r]})[0];
    double all = 0;
    for (double& weight : weights) all += weight = std::exp(weight);
    std::vector<double> sorted = weights;
    std::sort(sorted.rbegin(), sorted.rend());
    const double least = sorted[spec.experts->chosen - 1];
    double chosen = 0;
    for (const double weight : weights) chosen += weight >= least ? weight : 0;
    std::vector<double>& sum = y.emplace_back(x[r].size());
    for (size_t e = 0; e < weights.size(); ++e) {
      if (weights[e] < least) continue;
      const Rows output =
          FeedForward(slot + ".experts." + std::to_string(e), network, {x[r]});
      for (size_t i = 0; i < sum.size(); ++i) {
        sum[i] += output[0][i] * weights[e] /
                  (spec.experts->normalized ? chosen : all);
      }
    }
    if (bias == weights_.end()) continue;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += bias->second.values[i];
  }
  return y;
}

Rows NaiveTransformer::FeedForward(const std::string& slot,
                                   const FeedForwardSpec& spec,
                                   const Rows& x) const {
  if (spec.experts) return Experts(slot, spec, x);
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

Rows NaiveTransformer::Convolve(const ConvolutionSpec& spec,
                                const AttentionMask& mask, const Rows& x,
                                const Rows& y) const {
  const NamedTensor& weight = weights_.at("encoder.convolution.weight");
  const auto bias = weights_.find("encoder.convolution.bias");
  const int hidden = static_cast<int>(weight.shape[0]);
  const int channels = hidden / spec.groups;
  const int rows = static_cast<int>(x.size());
  Rows sum = y;
  for (int r = 0; r < rows; ++r) {
    for (int out = 0; out < hidden; ++out) {
      double value = bias == weights_.end() ? 0 : bias->second.values[out];
      for (int i = 0; i < spec.size; ++i) {
        const int at = r + i - spec.size / 2;
        if (at < 0 || at >= rows || !mask.Visible(0, r, at)) continue;
        for (int c = 0; c < channels; ++c) {
          value += weight.values[(out * channels + c) * spec.size + i] *
                   x[at][out / channels * channels + c];
        }
      }
      sum[r][out] += Activate(spec.activation, value);
    }
  }
  return Norm("encoder.convolution.norm", spec.norm, sum);
}

Rows NaiveTransformer::DenseLayer(const std::string& name,
                                  const DenseSpec& layer, Rows x) const {
  Rows residual = x;
  if (layer.residual && static_cast<int>(x[0].size()) != layer.out) {
    residual = Linear(name + ".residual", x);
  }
  if (layer.linear) x = Linear(name, x);
  for (size_t r = 0; r < x.size(); ++r) {
    x[r].resize(layer.out);
    for (size_t j = 0; j < x[r].size(); ++j) {
      double& v = x[r][j];
      v = Activate(layer.activation, v);
      if (layer.pointwise == Pointwise::kSigmoid) v = 1 / (1 + std::exp(-v));
      if (layer.residual) v += residual[r][j];
    }
  }
  if (layer.norm) x = Norm(name + ".norm", *layer.norm, x);
  if (!layer.unit_length) return x;
  for (auto& row : x) {
    double square = 0;
    for (const double v : row) square += v * v;
    for (double& v : row) v /= std::sqrt(square);
  }
  return x;
}

Rows NaiveTransformer::Dense(const std::string& slot,
                             const std::vector<DenseSpec>& layers,
                             Rows x) const {
  for (size_t i = 0; i < layers.size(); ++i) {
    x = DenseLayer(slot + "." + std::to_string(i), layers[i], x);
  }
  return x;
}

}  // namespace attend
