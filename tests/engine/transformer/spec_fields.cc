#include "tests/engine/transformer/spec_fields.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/engine/transformer/layer_fields.h"
#include "tests/engine/transformer/stack_fields.h"
#include "tests/engine/transformer/transformer_fields.h"

namespace attend {
namespace {

// Where structs of type T stand in a spec.
template <typename T>
struct Place {
  std::string name;  // with a point behind it, if any
  std::function<std::vector<T*>(TransformerSpec&)> parts;
};

// Parts of what stands in other places; null where there is none.
template <typename T, typename Whole, typename Part>
std::vector<Place<T>> Within(const std::vector<Place<Whole>>& places,
                             const char* name, Part part) {
  std::vector<Place<T>> within;
  for (const Place<Whole>& place : places) {
    within.push_back({absl::StrCat(place.name, name, "."),
                      [place, part](TransformerSpec& spec) {
                        std::vector<T*> parts;
                        for (Whole* whole : place.parts(spec)) {
                          if (T* const p = part(*whole)) parts.push_back(p);
                        }
                        return parts;
                      }});
  }
  return within;
}

template <typename T>
std::vector<Place<T>> Join(std::vector<Place<T>> a,
                           const std::vector<Place<T>>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <typename T>
T* Of(std::optional<T>& part) {
  return part ? &*part : nullptr;
}

// The cases of a base, and the fields that they are about.
struct Collector {
  const TransformerSpec base;
  std::vector<SpecCase> cases;
  std::vector<std::string> without_rows;

  template <typename T, size_t kRows>
  void Add(const Row<T> (&rows)[kRows], const std::vector<Place<T>>& places) {
    const auto& [type, names] = FieldsOf(static_cast<const T*>(nullptr));
    for (const auto& name : absl::StrSplit(names, ", ")) {
      const bool found =
          std::any_of(rows, rows + kRows,
                      [&](const Row<T>& row) { return row.field == name; });
      if (!found) without_rows.push_back(absl::StrCat(type, ".", name));
    }
    for (const Place<T>& place : places) {
      for (const Row<T>& row : rows) Add(row, place);
    }
  }

 private:
  template <typename T>
  void Add(const Row<T>& row, const Place<T>& place) {
    SpecCase c = {
        .name = absl::StrCat(place.name, row.field,
                             *row.value == '\0' ? "" : " ", row.value),
        .field = row.field,
        .shows = row.shows,
        .spec = base};
    const std::vector<T*> parts = place.parts(c.spec);
    if (parts.empty()) return;
    for (T* part : parts) row.set(*part);
    cases.push_back(std::move(c));
  }
};

Collector Collect(Base base) {
  Collector all = {BaseSpec(base), {}, {}};
  const std::vector<Place<TransformerSpec>> whole = {
      {"", [](TransformerSpec& s) { return std::vector{&s}; }}};
  const auto stacks =
      Join(Within<StackSpec>(whole, "encoder",
                             [](TransformerSpec& s) { return Of(s.encoder); }),
           Within<StackSpec>(whole, "decoder",
                             [](TransformerSpec& s) { return Of(s.decoder); }));
  std::vector<Place<LayerSpec>> layers;
  for (const Place<StackSpec>& stack : stacks) {
    for (const bool every : {true, false}) {
      layers.push_back({stack.name + (every ? "layers[*]." : "layers[1]."),
                        [stack, every](TransformerSpec& spec) {
                          std::vector<LayerSpec*> parts;
                          for (StackSpec* s : stack.parts(spec)) {
                            if (every) parts.push_back(&s->layers[0]);
                            parts.push_back(&s->layers[1]);
                          }
                          return parts;
                        }});
    }
  }
  const auto selves = Within<AttentionSpec>(
      layers, "self_attention", [](LayerSpec& s) { return &s.self_attention; });
  const auto crosses =
      Within<AttentionSpec>(layers, "cross_attention",
                            [](LayerSpec& s) { return Of(s.cross_attention); });
  const auto embeddings = Within<EmbeddingSpec>(
      stacks, "embedding", [](StackSpec& s) { return &s.embedding; });
  const auto embeds = Within<EmbedSpec>(
      whole, "embed", [](TransformerSpec& s) { return &s.embed; });
  const auto heads = Within<HeadSpec>(
      whole, "head", [](TransformerSpec& s) { return Of(s.head); });
  const auto first_dense = [](auto& s) {
    return s.layers.empty() ? nullptr : &s.layers[0];
  };
  const auto denses = Join(Within<DenseSpec>(embeds, "layers[0]", first_dense),
                           Within<DenseSpec>(heads, "layers[0]", first_dense));
  const auto norm_of = [](auto& s) { return Of(s.norm); };

  all.Add(kTransformer, whole);
  all.Add(kStack, stacks);
  all.Add(kEmbedding, embeddings);
  all.Add(kRelativeBias,
          Within<RelativeBiasSpec>(stacks, "relative_bias", [](StackSpec& s) {
            return Of(s.relative_bias);
          }));
  all.Add(kDistances,
          Within<DistanceSpec>(stacks, "distances",
                               [](StackSpec& s) { return Of(s.distances); }));
  all.Add(kConvolution,
          Within<ConvolutionSpec>(whole, "encoder.convolution",
                                  [](TransformerSpec& s) -> ConvolutionSpec* {
                                    if (!s.encoder) return nullptr;
                                    MakePost(*s.encoder);
                                    s.encoder->convolution.emplace().size = 3;
                                    return &*s.encoder->convolution;
                                  }));
  all.Add(kLayer, layers);
  all.Add(kAttention, Join(selves, crosses));
  all.Add(kRotary, Within<RotarySpec>(selves, "rotary", [](AttentionSpec& s) {
            return Of(s.rotary);
          }));
  const auto feed_forwards = Within<FeedForwardSpec>(
      layers, "feed_forward", [](LayerSpec& s) { return &s.feed_forward; });
  all.Add(kFeedForward, feed_forwards);
  all.Add(kOfExperts,
          Within<ExpertsSpec>(feed_forwards, "experts", [](FeedForwardSpec& s) {
            // They are in no base.
            return s.experts ? &*s.experts : &s.experts.emplace(5, 2);
          }));
  all.Add(kEmbed, embeds);
  all.Add(kHead, heads);
  all.Add(kDense, denses);
  auto norms =
      Within<NormSpec>(layers, "norm", [](LayerSpec& s) { return &s.norm; });
  norms =
      Join(norms, Within<NormSpec>(selves, "head_norm", [](AttentionSpec& s) {
             return Of(s.head_norm);
           }));
  norms = Join(norms, Within<NormSpec>(embeddings, "norm", norm_of));
  all.Add(kNorm, Join(norms, Within<NormSpec>(denses, "norm", norm_of)));
  return all;
}

}  // namespace

TransformerSpec BaseSpec(Base base) {
  LayerSpec layer;
  layer.norm.epsilon = 1e-4f;
  layer.norm_place = NormPlace::kPre;
  layer.self_attention = {.heads = 4,
                          .kv_heads = 2,
                          .head_dim = 8,
                          .scale = 0.4f,
                          .head_norm = NormSpec(),
                          .rotary = PlainRotary()};
  layer.feed_forward = {.width = 30, .activation = Activation::kGelu};
  TransformerSpec spec;
  spec.hidden = 24;
  StackSpec stack;
  stack.embedding = {.vocab = 29,
                     .width = spec.hidden,
                     .positions = Positions::kLearned,
                     .max_positions = 64,
                     .position_offset = 2,
                     .norm = NormSpec()};
  stack.layers = {layer, layer};
  stack.relative_bias = {.buckets = 8, .max_distance = 11};
  if (base != Base::kDecoder) {
    spec.encoder = stack;
    spec.encoder->distances = {
        .side = 6, .max_distance = 11, .norm = NormSpec()};
  }
  if (base == Base::kEncoderDecoder) {
    for (LayerSpec& l : stack.layers) {
      l.cross_attention = {
          .heads = 4, .kv_heads = 2, .head_dim = 8, .scale = 0.5f};
    }
  }
  if (base == Base::kEncoderDecoder || base == Base::kDecoder) {
    spec.decoder = stack;
    return spec;
  }
  spec.embed.layers = {
      {.out = 12, .activation = Activation::kTanh, .norm = NormSpec()}};
  spec.head.emplace().layers = {
      {.out = 20, .activation = Activation::kTanh, .norm = NormSpec()},
      {.out = 5}};
  if (base == Base::kMaskedLm) spec.head->kind = HeadKind::kMaskedLm;
  return spec;
}

std::vector<SpecCase> SpecCases(Base base) { return Collect(base).cases; }

std::vector<std::string> FieldsWithoutCases() {
  return Collect(Base::kEncoder).without_rows;
}

}  // namespace attend
