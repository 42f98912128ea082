#include "engine/transformer/layer.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/head_norms.h"
#include "engine/transformer/load.h"
#include "engine/transformer/load_adapters.h"

namespace attend {
namespace {

HeadShape ShapeOf(const AttentionSpec& spec) {
  return {.heads = spec.heads,
          .kv_heads = spec.kv_heads,
          .head_dim = spec.head_dim};
}

AttentionRules RulesOf(const AttentionSpec& spec,
                       const SharedPositions& shared) {
  return {.scale = spec.scale,
          .softcap = spec.softcap,
          .bias = shared.bias,
          .distances = shared.distances,
          .slopes = spec.slopes.empty() ? nullptr : spec.slopes.data(),
          .symmetric = spec.symmetric,
          .window = spec.window};
}

// Whether a gated feed-forward may have massive activations (Sun et al. 2024):
// a channel of the first token that is a thousand times as large as others. All
// tokens attend to the first one. What the weights behind the channel lose by
// rounding moves all tokens alike, so the second product should be precise.
// `lengths` [2 * channels]: of the weights of the gate's channels, then of the
// value's. In SmolLM2 the product of both is 11 to 56 times the median for one
// channel of such layers, and up to 4 times in other layers.
bool HasMassiveChannel(absl::Span<const double> lengths) {
  constexpr double kMassive = 8;
  const size_t channels = lengths.size() / 2;
  std::vector<double> products(channels);
  for (size_t i = 0; i < channels; ++i) {
    products[i] = lengths[i] * lengths[channels + i];
  }
  const double largest = *absl::c_max_element(products);
  const auto median = products.begin() + products.size() / 2;
  absl::c_nth_element(products, median);
  return *median > 0 && largest > kMassive * *median;
}

// Reads the slots of one layer.
class LayerLoader {
 public:
  LayerLoader(Primitives& primitives, Weights& weights,
              const std::string& prefix, int hidden, const LayerSpec& spec,
              const LoadOptions& options)
      : primitives_(primitives),
        weights_(weights),
        prefix_(prefix),
        hidden_(hidden),
        spec_(spec),
        options_(options) {}

  absl::StatusOr<SelfAttention> Self(const SharedPositions& shared) {
    const HeadShape shape = ShapeOf(spec_.self_attention);
    const int end = shape.query_width() + 2 * shape.kv_width();
    ASSIGN_OR_RETURN(
        Linear qkv,
        Maps({"self.q", "self.k", "self.v"}, hidden_,
             {shape.query_width(), shape.kv_width(), shape.kv_width()},
             {end - PreciseValues(spec_.self_attention), end}));
    RETURN_IF_ERROR(Adapt("self.qkv", qkv));
    ASSIGN_OR_RETURN(Linear out,
                     Maps({"self.out"}, shape.query_width(), {hidden_}));
    RETURN_IF_ERROR(Adapt("self.out", out));
    HeadMaps maps = {
        .clip = spec_.self_attention.clip,
        .joint_norm = spec_.self_attention.joint_norm,
        .norm_by_head = spec_.self_attention.norm_by_head,
        .norm_after_rotation = spec_.self_attention.norm_after_rotation,
        .rotary = shared.rotary,
        .rotates_values = spec_.self_attention.rotates_values};
    ASSIGN_OR_RETURN(maps.norms, LoadHeadNorms(weights_, Slot("self"),
                                               spec_.self_attention));
    return SelfAttention(shape, RulesOf(spec_.self_attention, shared),
                         std::move(maps), std::move(qkv), std::move(out));
  }

  absl::StatusOr<std::optional<Layer::Cross>> Cross() {
    if (!spec_.cross_attention) return std::nullopt;
    const AttentionSpec& attention = *spec_.cross_attention;
    const HeadShape shape = ShapeOf(attention);
    ASSIGN_OR_RETURN(Linear query,
                     Maps({"cross.q"}, hidden_, {shape.query_width()}));
    ASSIGN_OR_RETURN(Linear key_value,
                     Maps({"cross.k", "cross.v"}, hidden_,
                          {shape.kv_width(), shape.kv_width()}));
    ASSIGN_OR_RETURN(Linear out,
                     Maps({"cross.out"}, shape.query_width(), {hidden_}));
    ASSIGN_OR_RETURN(BranchNorms norms, Norms("cross", true));
    return Layer::Cross{
        CrossAttention(shape, RulesOf(attention, {}), attention.clip,
                       std::move(query), std::move(key_value), std::move(out)),
        std::move(norms)};
  }

  absl::StatusOr<std::variant<FeedForward, MixtureOfExperts>> Inner() {
    if (spec_.feed_forward.experts) return Experts();
    return Network("ffn");
  }

  // The norms of a branch. `has_norm`: the branch has BranchNorms::norm.
  absl::StatusOr<BranchNorms> Norms(const std::string& branch, bool has_norm) {
    BranchNorms norms;
    if (has_norm) {
      ASSIGN_OR_RETURN(norms.norm, LoadNorm(weights_, Slot(branch + ".norm"),
                                            hidden_, spec_.norm));
    }
    if (spec_.branch_norm) {
      ASSIGN_OR_RETURN(norms.of_branch,
                       LoadNorm(weights_, Slot(branch + ".branch_norm"),
                                hidden_, spec_.norm));
    }
    if (spec_.sum_norm && branch == "self") {
      ASSIGN_OR_RETURN(norms.of_sum, LoadNorm(weights_, Slot("self.sum_norm"),
                                              hidden_, spec_.norm));
    }
    return norms;
  }

 private:
  // The feed-forward network of the slots "<name>.in" and so on.
  absl::StatusOr<FeedForward> Network(const std::string& name) {
    const int width = spec_.feed_forward.width;
    const bool gated = spec_.feed_forward.gated;
    const bool measures = gated && options_.dtype == ComputeType::kInt8;
    std::vector<double> lengths(measures ? size_t{2} * width : 0);
    // The gate's outputs come before the value's.
    ASSIGN_OR_RETURN(
        Linear in,
        gated ? Maps({name + ".gate", name + ".in"}, hidden_, {width, width},
                     /*precise=*/{}, absl::MakeSpan(lengths))
              : Maps({name + ".in"}, hidden_, {width}));
    RETURN_IF_ERROR(Adapt(name + ".in", in));
    const bool massive = measures && HasMassiveChannel(lengths);
    ASSIGN_OR_RETURN(Linear out, Maps({name + ".out"}, width, {hidden_},
                                      {0, massive ? hidden_ : 0}));
    RETURN_IF_ERROR(Adapt(name + ".out", out));
    return FeedForward(std::move(in), std::move(out),
                       spec_.feed_forward.activation, gated);
  }

  absl::StatusOr<MixtureOfExperts> Experts() {
    const ExpertsSpec& spec = *spec_.feed_forward.experts;
    // In f32: rounding would choose other experts, and the weights are few.
    LoadOptions precise = options_;
    precise.dtype = ComputeType::kF32;
    ASSIGN_OR_RETURN(Linear router,
                     LoadLinear(primitives_, weights_, {Slot("ffn.router")},
                                hidden_, {spec.count}, precise));
    std::vector<FeedForward> experts;
    experts.reserve(spec.count);
    for (int i = 0; i < spec.count; ++i) {
      ASSIGN_OR_RETURN(FeedForward expert,
                       Network(absl::StrCat("ffn.experts.", i)));
      experts.push_back(std::move(expert));
    }
    Buffer<float> bias;
    const std::string bias_slot = Slot("ffn.experts.bias");
    if (weights_.Lists(bias_slot)) {
      ASSIGN_OR_RETURN(bias, weights_.Read(bias_slot, {hidden_}));
    }
    return MixtureOfExperts({.router = std::move(router),
                             .experts = std::move(experts),
                             .bias = std::move(bias),
                             .chosen = spec.chosen,
                             .normalized = spec.normalized});
  }

  std::string Slot(const std::string& name) const {
    return absl::StrCat(prefix_, ".", name);
  }
  absl::StatusOr<Linear> Maps(const std::vector<std::string>& names, int in,
                              const std::vector<int>& out, Range precise = {},
                              absl::Span<double> lengths = {}) {
    std::vector<std::string> slots;
    slots.reserve(names.size());
    for (const std::string& name : names) slots.push_back(Slot(name));
    return LoadLinear(primitives_, weights_, slots, in, out, options_, precise,
                      lengths);
  }
  absl::Status Adapt(const std::string& name, Linear& linear) {
    return LoadAdapters(primitives_, weights_, Slot(name), options_, linear);
  }

  Primitives& primitives_;
  Weights& weights_;
  const std::string& prefix_;
  const int hidden_;
  const LayerSpec& spec_;
  const LoadOptions options_;
};

}  // namespace

absl::StatusOr<Layer> LoadLayer(Primitives& primitives, Weights& weights,
                                const std::string& prefix, int hidden,
                                const LayerSpec& spec,
                                const SharedPositions& shared,
                                const LoadOptions& options) {
  LayerLoader load(primitives, weights, prefix, hidden, spec, options);
  ASSIGN_OR_RETURN(SelfAttention self, load.Self(shared));
  ASSIGN_OR_RETURN(BranchNorms self_norms, load.Norms("self", spec.self_norm));
  ASSIGN_OR_RETURN(std::optional<Layer::Cross> cross, load.Cross());
  ASSIGN_OR_RETURN(auto feed_forward, load.Inner());
  ASSIGN_OR_RETURN(BranchNorms feed_forward_norms,
                   load.Norms("ffn", spec.ffn_norm));
  return Layer{.norm_place = spec.norm_place,
               .parallel = spec.parallel,
               .self_attention = std::move(self),
               .self_norms = std::move(self_norms),
               .cross = std::move(cross),
               .feed_forward = std::move(feed_forward),
               .feed_forward_norms = std::move(feed_forward_norms)};
}

}  // namespace attend
