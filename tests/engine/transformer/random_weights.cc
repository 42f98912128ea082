#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/transformer/naive_transformer.h"

namespace attend {
namespace {

uint32_t SeedOf(std::seed_seq& seeds) {
  uint32_t seed;
  seeds.generate(&seed, &seed + 1);
  return seed;
}

}  // namespace

TensorsBySlot RandomWeights(const TransformerSpec& spec, uint32_t seed,
                            bool biases) {
  TensorsBySlot tensors;
  const auto make = [&](const std::string& slot, std::vector<int64_t> shape,
                        double mean, double deviation) {
    size_t count = 1;
    for (int64_t n : shape) count *= n;
    // A slot's numbers stay what they are if others come or go.
    std::seed_seq seeds(slot.begin(), slot.end());
    std::mt19937 random(seed ^ SeedOf(seeds));
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
    make(slot + ".weight", {size}, norm_spec.unit_offset ? 0.5 : 1, 0.2);
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
    const auto head_norm = [&](const std::string& at, int heads) {
      if (!shape.head_norm) return;
      const NormSpec& of = *shape.head_norm;
      if (!shape.norm_by_head) {
        return norm(at, shape.head_dim * (shape.joint_norm ? heads : 1), of);
      }
      for (int head = 0; head < heads; ++head) {
        norm(absl::StrCat(at, ".", head), shape.head_dim, of);
      }
    };
    head_norm(slot + ".q.norm", shape.heads);
    head_norm(slot + ".k.norm", shape.kv_heads);
  };
  const auto network = [&](const std::string& slot,
                           const FeedForwardSpec& feed) {
    if (feed.gated) linear(slot + ".gate", hidden, feed.width);
    linear(slot + ".in", hidden, feed.width);
    linear(slot + ".out", feed.width, hidden);
  };
  const auto feed_forward = [&](const std::string& slot,
                                const FeedForwardSpec& feed) {
    if (!feed.experts) return network(slot, feed);
    linear(slot + ".router", hidden, feed.experts->count);
    for (int i = 0; i < feed.experts->count; ++i) {
      network(absl::StrCat(slot, ".experts.", i), feed);
    }
    if (biases) make(slot + ".experts.bias", {hidden}, 0, 0.3);
  };
  const auto embedding = [&](const std::string& slot,
                             const EmbeddingSpec& table) {
    const int width = table.projects_tokens ? hidden : table.width;
    make(slot + ".tokens", {table.vocab, table.width}, 0, 0.5);
    if (table.positions == Positions::kLearned) {
      make(slot + ".positions",
           {table.max_positions + table.position_offset, width}, 0, 0.5);
    }
    if (table.token_types > 0) {
      make(slot + ".types", {table.token_types, width}, 0, 0.5);
    }
    if (table.task_types > 0) {
      make(slot + ".tasks", {table.task_types, width}, 0, 0.5);
    }
    if (table.norm) norm(slot + ".norm", width, *table.norm);
    if (table.width != hidden) {
      linear(slot + ".projection", table.width, hidden);
    }
  };
  const auto stack = [&](const std::string& name, const StackSpec& stack_spec) {
    embedding(name + ".embedding", stack_spec.embedding);
    const auto relative_bias = [&](const std::string& at, bool per_layer) {
      const auto& bias = stack_spec.relative_bias;
      if (!bias || bias->per_layer != per_layer) return;
      make(at + ".relative_bias",
           {bias->buckets, stack_spec.layers[0].self_attention.heads}, 0, 1);
    };
    relative_bias(name, false);
    if (const auto& distances = stack_spec.distances) {
      make(name + ".distances", {2 * distances->side, hidden}, 0, 1);
      if (distances->norm)
        norm(name + ".distances.norm", hidden, *distances->norm);
    }
    if (const auto& convolution = stack_spec.convolution) {
      const std::string slot = name + ".convolution";
      make(slot + ".weight",
           {hidden, hidden / convolution->groups, convolution->size}, 0, 0.3);
      if (biases) make(slot + ".bias", {hidden}, 0, 0.3);
      norm(slot + ".norm", hidden, convolution->norm);
    }
    if (stack_spec.stored_frequencies) {
      const auto& rotary = stack_spec.layers[0].self_attention.rotary;
      make(name + ".frequencies",
           {static_cast<int64_t>(rotary->frequencies.size())}, 0.4, 0.2);
    }
    for (size_t i = 0; i < stack_spec.layers.size(); ++i) {
      const LayerSpec& layer = stack_spec.layers[i];
      const std::string prefix = absl::StrCat(name, ".", i);
      relative_bias(prefix, true);
      const int queries =
          layer.self_attention.heads * layer.self_attention.head_dim;
      if (stack_spec.distances && stack_spec.distances->keys) {
        linear(prefix + ".self.distance_k", hidden, queries);
      }
      if (stack_spec.distances && stack_spec.distances->queries) {
        linear(prefix + ".self.distance_q", hidden, queries);
      }
      attention(prefix + ".self", layer.self_attention);
      if (layer.self_norm) norm(prefix + ".self.norm", hidden, layer.norm);
      if (layer.cross_attention) {
        attention(prefix + ".cross", *layer.cross_attention);
        norm(prefix + ".cross.norm", hidden, layer.norm);
        if (layer.branch_norm) {
          norm(prefix + ".cross.branch_norm", hidden, layer.norm);
        }
      }
      feed_forward(prefix + ".ffn", layer.feed_forward);
      if (layer.sum_norm) norm(prefix + ".self.sum_norm", hidden, layer.norm);
      if (layer.ffn_norm) norm(prefix + ".ffn.norm", hidden, layer.norm);
      if (layer.branch_norm) {
        norm(prefix + ".self.branch_norm", hidden, layer.norm);
        norm(prefix + ".ffn.branch_norm", hidden, layer.norm);
      }
    }
    if (stack_spec.layers.empty()) return;
    if (stack_spec.layers[0].norm_place == NormPlace::kPre) {
      norm(name + ".norm", hidden, stack_spec.layers[0].norm);
    }
  };
  const auto dense = [&](const std::string& slot,
                         const std::vector<DenseSpec>& layers, int in) {
    for (size_t i = 0; i < layers.size(); ++i) {
      const std::string name = absl::StrCat(slot, ".", i);
      if (layers[i].linear) linear(name, in, layers[i].out);
      if (layers[i].residual && in != layers[i].out) {
        linear(name + ".residual", in, layers[i].out);
      }
      if (layers[i].norm) norm(name + ".norm", layers[i].out, *layers[i].norm);
      in = layers[i].out;
    }
    return in;
  };
  if (spec.encoder) stack("encoder", *spec.encoder);
  if (spec.decoder) stack("decoder", *spec.decoder);
  for (int route = 0; route < spec.Routes(); ++route) {
    dense(RouteSlot(route), spec.Route(route).layers, spec.PooledWidth(route));
  }
  if (spec.embed.sparse) dense("sparse", spec.embed.sparse->layers, hidden);
  if (spec.embed.tokens) dense("tokens", spec.embed.tokens->layers, hidden);
  int width = spec.head ? dense("head", spec.head->layers, hidden) : hidden;
  if (spec.LogitsVocab() == 0) return tensors;
  if (spec.decoder) width = hidden;
  if (const auto& projection = spec.logits_projection) {
    linear("logits.projection", width, projection->out);
    width = projection->out;
    if (projection->norm) {
      norm("logits.projection.norm", width, *projection->norm);
    }
  }
  make("logits.weight", {spec.LogitsVocab(), width}, 0, 0.5);
  if (spec.logits_bias) make("logits.bias", {spec.LogitsVocab()}, 0, 0.5);
  return tensors;
}

}  // namespace attend
