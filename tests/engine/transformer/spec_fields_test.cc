// Whatever a spec says is computed, as the naive transformer does, or refused:
// each of its fields, wherever it stands, set to something else.

#include "tests/engine/transformer/spec_fields.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/transformer_outputs.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// What changing each weight by so much of itself changes is what rounding may:
// a step of a float is 2^-23.
constexpr float kChange = 0x1p-19f;

TensorsBySlot Changed(TensorsBySlot weights) {
  std::mt19937 random(17);
  for (auto& [slot, tensor] : weights) {
    for (float& x : tensor.values) {
      x *= random() % 2 == 0 ? 1 + kChange : 1 - kChange;
    }
  }
  return weights;
}

// The most that a number of one differs by; infinite if shapes differ.
double Distance(const Rows& a, const Rows& b) {
  if (a.size() != b.size() || a[0].size() != b[0].size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) {
      const double distance = std::abs(a[i][j] - b[i][j]);
      if (!(distance <= most)) most = distance;  // NaN is far
    }
  }
  return most;
}

using Names = std::set<std::string>;

void Add(const std::vector<std::string>& places,
         const std::vector<std::string>& fields, Names& names) {
  for (const std::string& place : places) {
    for (const std::string& field : fields) names.insert(place + field);
  }
}

// What Validate() refuses in a stack, wherever that is.
void AddRefusedOfStack(const std::string& stack, Names& names) {
  Add({stack}, {".layers none", ".layers of other lengths"}, names);
  Add({stack + ".embedding."},
      {"projects_tokens alone", "width 13 of sinusoids", "max_positions 0",
       "position_offset 0 with an uncounted id", "position_offset of none",
       "task_types alone", "uncounted_id 7 of none",
       "norms_tokens without a norm", "norms_tokens of 14", "dropped_id -2"},
      names);
  Add({stack + ".convolution "}, {"after norms", "of 14"}, names);
  Add({stack + ".stored_frequencies "}, {"of others", "of none"}, names);
  Add({stack + ".relative_bias."}, {"buckets 1", "max_distance 2"}, names);
  const std::vector<std::string> layers = {stack + ".layers[*].",
                                           stack + ".layers[1]."};
  Add(layers,
      {"self_norm false after",
       "ffn_norm false after",
       "branch_norm after",
       "parallel after",
       "sum_norm",
       "feed_forward.experts.count 0",
       "feed_forward.experts.chosen 0",
       "feed_forward.experts.chosen 6",
       "self_attention.joint_norm alone",
       "self_attention.norm_by_head alone",
       "self_attention.norm_by_head joint",
       "self_attention.norm_after_rotation without head_norm",
       "self_attention.norm_after_rotation without rotary",
       "cross_attention",
       "self_attention.heads 3",
       "self_attention.head_dim 0",
       "self_attention.scale 0",
       "self_attention.slopes of 3",
       "self_attention.symmetric alone",
       "self_attention.rotates_values alone",
       "self_attention.rotary.theta",
       "self_attention.rotary.factor",
       "self_attention.rotary.long_frequencies",
       "self_attention.rotary.recomputes"},
      names);
  // Layers that differ.
  Add({layers[1]},
      {"norm_place", "norm_place after, with sum_norm",
       "self_attention.heads 6", "self_attention.kv_heads",
       "self_attention.head_dim 10"},
      names);
  if (stack == "decoder") {
    Add({stack}, {".layers none, no bias"}, names);
    Add({"decoder.embedding.uncounted_id 7"}, {"", " of sinusoids"}, names);
    Add({"decoder.embedding.dropped_id 7"}, {""}, names);
    Add({"decoder."}, {"distances", "convolution of 3"}, names);
    return;
  }
  Add({"encoder.convolution."}, {"size 2", "groups 7"}, names);
  Add({"encoder.distances."}, {"side 3", "max_distance 4", "queries nor keys"},
      names);
  for (const std::string& layer : layers) {
    Add({layer + "self_attention.rotary.original_positions "},
        {"9", "17", "20", "19 and others", "20 and others",
         "18 and others, kept"},
        names);
  }
}

void AddRefusedOfCross(Names& names) {
  for (const std::string layer : {"decoder.layers[*].", "decoder.layers[1]."}) {
    Add({layer},
        {"parallel true", "parallel with branch_norm", "parallel with experts"},
        names);
    Add({layer + "self_attention.", layer + "cross_attention."},
        {"kv_heads", "head_dim 10"}, names);
    Add({layer + "cross_attention."},
        {"heads 3",
         "head_dim 0",
         "scale 0",
         "head_norm",
         "joint_norm true",
         "joint_norm alone",
         "norm_by_head true",
         "norm_by_head alone",
         "norm_by_head joint",
         "norm_after_rotation true",
         "norm_after_rotation without head_norm",
         "norm_after_rotation without rotary",
         "rotary",
         "rotates_values",
         "rotates_values alone",
         "slopes of 4",
         "slopes of 3",
         "symmetric slopes",
         "symmetric alone",
         "window"},
        names);
  }
}

Names RefusedOf(Base base) {
  Names names = {"hidden 0",
                 "encoder",
                 "embed.poolings none",
                 "logits_projection of none",
                 "routes none pooled",
                 "routes of tokens' weights",
                 "routes of tokens",
                 "adapters none",
                 "adapters of no rank",
                 "adapters of scale 0"};
  if (base != Base::kDecoder) names.insert("generates");
  switch (base) {
    case Base::kMaskedLm:
      Add({"head."},
          {"pooling", "pools_outputs first", "pools_outputs greatest"}, names);
      [[fallthrough]];
    case Base::kEncoder:
      Add({""},
          {"decoder", "logits_scale", "logits_projection of 14",
           "logits_projection of 14, activated"},
          names);
      if (base == Base::kEncoder) {
        Add({""}, {"logits_bias", "logits_softcap", "routes of logits"}, names);
      }
      Add({"embed.sparse "},
          {"of two numbers", "of tokens, sums", "of tokens, logs"}, names);
      if (base == Base::kEncoder) {
        Add({"embed.sparse of logits"}, {"", ", sums", ", logs"}, names);
      }
      Add({"embed.", "head."},
          {"layers[0].out 0", "layers[0].linear no map, activation"}, names);
      Add({"head."},
          {"reads_decoder", "reads_end", "wraps_source", "first_id",
           "padding_id", "yes_id", "no_id"},
          names);
      AddRefusedOfStack("encoder", names);
      break;
    case Base::kEncoderDecoder:
      names.insert("routes of logits");
      Add({"embed.sparse "},
          {"of two numbers", "of tokens, sums", "of tokens, logs", "of logits",
           "of logits, sums", "of logits, logs"},
          names);
      names.insert("adapters that nobody chooses");
      AddRefusedOfStack("encoder", names);
      Add({"encoder"}, {".layers none, no bias"}, names);
      AddRefusedOfStack("decoder", names);
      AddRefusedOfCross(names);
      break;
    case Base::kDecoder:
      Add({""},
          {"decoder", "head", "embed", "routes two", "routes of logits",
           "adapters that nobody chooses"},
          names);
      Add({"embed."},
          {"poolings cls", "poolings max", "poolings last",
           "poolings root of the length", "poolings weighted", "poolings two",
           "pools_prompt", "layers", "normalize", "pooled", "sparse of tokens",
           "sparse of two numbers", "sparse of tokens, sums",
           "sparse of tokens, logs", "sparse of logits",
           "sparse of logits, sums", "sparse of logits, logs", "tokens"},
          names);
      AddRefusedOfStack("decoder", names);
      break;
  }
  return names;
}

class SpecFieldsTest : public testing::TestWithParam<Base> {
 protected:
  static constexpr uint32_t kSeed = 5;

  void ExpectComputed(const SpecCase& c) {
    const TensorsBySlot weights = RandomWeights(c.spec, kSeed);
    const Outputs expected = NaiveOutputs(c.spec, weights);
    const Outputs near = NaiveOutputs(c.spec, Changed(weights));
    const Outputs found = EngineOutputs(compute_, c.spec, weights);
    // Others come or go, or one of them differs.
    bool shows = expected.size() != base_.size();
    for (const auto& [name, rows] : expected) {
      const double tolerance = Distance(near.at(name), rows);
      EXPECT_LE(Distance(found.at(name), rows), tolerance) << name;
      const auto plain = base_.find(name);
      shows |= plain == base_.end() ||
               Distance(rows, plain->second) > 100 * tolerance;
    }
    EXPECT_TRUE(shows || !c.shows) << "nothing shows";
  }

  Compute compute_{{.threads = 1}};
  const Outputs base_ = NaiveOutputs(
      BaseSpec(GetParam()), RandomWeights(BaseSpec(GetParam()), kSeed));
};

TEST_P(SpecFieldsTest, EachFieldIsComputedOrRefused) {
  ASSERT_TRUE(BaseSpec(GetParam()).Validate().ok())
      << BaseSpec(GetParam()).Validate();
  Names refused;
  for (const SpecCase& c : SpecCases(GetParam())) {
    SCOPED_TRACE(c.name);
    const absl::Status status = c.spec.Validate();
    if (status.ok()) {
      ExpectComputed(c);
      continue;
    }
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.field));
    refused.insert(c.name);
  }
  EXPECT_THAT(refused, testing::ContainerEq(RefusedOf(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Bases, SpecFieldsTest,
                         testing::Values(Base::kEncoder, Base::kMaskedLm,
                                         Base::kEncoderDecoder,
                                         Base::kDecoder));

TEST(SpecFieldsTest, EachFieldHasACase) {
  EXPECT_THAT(FieldsWithoutCases(), testing::IsEmpty());
}

// The maps of experts have no adapters.
TEST(SpecFieldsTest, AdaptersAreNotBesideExperts) {
  TransformerSpec spec = BaseSpec(Base::kEncoder);
  spec.encoder->layers[1].feed_forward.experts = {.count = 3, .chosen = 2};
  EXPECT_TRUE(spec.Validate().ok()) << spec.Validate();
  spec.adapters = {.count = 2, .rank = 3};
  EXPECT_THAT(std::string(spec.Validate().message()),
              HasSubstr("adapters is set, expected unset beside experts"));
}

// Spans have two logits for each token, choices one.
TEST(SpecFieldsTest, SomeHeadsHaveOneWidth) {
  for (const auto& [kind, width] :
       {std::pair(HeadKind::kSpans, 2), {HeadKind::kChoice, 1}}) {
    TransformerSpec spec = BaseSpec(Base::kEncoder);
    spec.head->kind = kind;
    EXPECT_THAT(std::string(spec.Validate().message()),
                HasSubstr("head.layers is a layer of 5"));
    spec.head->layers.back().out = width;
    EXPECT_TRUE(spec.Validate().ok()) << spec.Validate();
  }
}

}  // namespace
}  // namespace attend
