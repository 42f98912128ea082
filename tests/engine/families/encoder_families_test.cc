#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/checkpoint/checkpoint.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/transformer/transformer.h"
#include "tests/engine/checkpoint/files.h"
#include "tests/engine/families/config.h"
#include "tests/engine/families/read_modules.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kFixtures[] = ATTEND_SOURCE_DIR "/tests/golden/families/";

// A fixture's configuration with some keys changed (null: removed).
JsonFile ConfigOf(const std::string& fixture,
                  const Json& changes = Json::object()) {
  Json json;
  std::ifstream(kFixtures + fixture + "/config.json") >> json;
  json.update(changes);
  return *JsonFile::Parse("config.json", json.dump());
}

Family FamilyOf(const std::string& fixture,
                const Json& changes = Json::object()) {
  absl::StatusOr<Family> family = LoadFamily(ConfigOf(fixture, changes));
  EXPECT_TRUE(family.ok()) << fixture << ": " << family.status();
  return *std::move(family);
}

std::string Error(const std::string& fixture, const Json& changes) {
  const auto family = LoadFamily(ConfigOf(fixture, changes));
  EXPECT_TRUE(absl::IsInvalidArgument(family.status())) << changes;
  return std::string(family.status().message());
}

// Loads what the configuration describes, and checks that nothing is left.
absl::Status LoadAll(Compute& compute, const std::string& directory,
                     Family family) {
  const auto checkpoint = Checkpoint::Open(directory, family.folders);
  if (!checkpoint.ok()) return checkpoint.status();
  Weights weights(*checkpoint, family.names);
  const auto transformer =
      Transformer::Load(compute, family.spec, weights, {.max_rows = 16});
  if (!transformer.ok()) return transformer.status();
  return weights.CheckAllRead();
}

TEST(EncoderFamiliesTest, EveryTensorOfEveryFixture) {
  Compute compute(ComputeOptions{.threads = 1});
  int loaded = 0;
  for (const auto& entry : fs::directory_iterator(kFixtures)) {
    const auto config = JsonFile::Load(entry.path() / "config.json");
    ASSERT_TRUE(config.ok()) << config.status();
    auto family = LoadFamily(*config);
    if (!family.ok() || family->spec.decoder) continue;
    ASSERT_TRUE(ReadSentenceModules(entry.path(), *family).ok());
    EXPECT_TRUE(LoadAll(compute, entry.path(), *family).ok())
        << LoadAll(compute, entry.path(), *family);
    ++loaded;
  }
  EXPECT_GE(loaded, 80);
}

// sentence-transformers takes the encoder of a whole T5.
TEST(EncoderFamiliesTest, AWholeT5BesideModulesIsAnEncoder) {
  Family family = FamilyOf("t5-v1_1-4x");
  ASSERT_TRUE(family.spec.decoder.has_value());
  const TestDirectory directory;
  directory.Write(
      "modules.json",
      R"([{"path": "", "type": "sentence_transformers.models.Transformer"}])");
  ASSERT_TRUE(ReadSentenceModules(directory.path(), family).ok());
  EXPECT_FALSE(family.spec.decoder.has_value());
  Compute compute(ComputeOptions{.threads = 1});
  EXPECT_EQ(LoadAll(compute, kFixtures + std::string("t5-v1_1-4x"), family),
            absl::OkStatus());
}

// Of a fixture, each tensor but those that may be there: its absence or a wrong
// shape is an error that names it.
TEST(EncoderFamiliesTest, AMissingOrWrongTensorIsNamed) {
  Compute compute(ComputeOptions{.threads = 1});
  for (const char* fixture :
       {"bert-4x-labels", "roberta-4x-multi-label", "xlm-roberta-4x-reranker",
        "distilbert-4x-labels", "mpnet-4x-labels", "electra-4x-regression",
        "modernbert-4x-labels"}) {
    const std::string directory = std::string(kFixtures) + fixture;
    for (const bool missing : {false, true}) {
      Family family = FamilyOf(fixture);
      for (NameRow& row : family.names.rows) {
        if (row.slot != "encoder.{}.ffn.out.weight") continue;
        if (missing) row.tensors = {"none"};
        if (!missing) row.slices.total = 2;
      }
      const std::string error(LoadAll(compute, directory, family).message());
      EXPECT_THAT(error, HasSubstr("encoder.0.ffn.out.weight"));
      EXPECT_THAT(error, HasSubstr(missing ? "no tensor none" : "has shape"));
    }
    Family wider = FamilyOf(fixture);
    wider.spec.head->layers.back().out += 1;
    EXPECT_THAT(LoadAll(compute, directory, wider).message(),
                AllOf(HasSubstr("classifier"), HasSubstr("expected [")));
    Family narrow = FamilyOf(fixture);
    narrow.spec.head.reset();
    EXPECT_THAT(LoadAll(compute, directory, narrow).message(),
                HasSubstr("is not part of the model"));
  }
}

// What would be computed otherwise is refused by name.
TEST(EncoderFamiliesTest, RelativesOfBertRefuseWhatTheyDoNotCompute) {
  EXPECT_THAT(Error("deberta-mean-pooling", {{"conv_kernel_size", 3}}),
              HasSubstr("conv_kernel_size is 3"));
  EXPECT_THAT(Error("deberta-v2-convolution", {{"conv_kernel_size", 4}}),
              HasSubstr("conv_kernel_size is 4, expected an odd number"));
  EXPECT_THAT(Error("deberta-v2-convolution", {{"conv_groups", 7}}),
              HasSubstr("conv_groups is 7, expected a divisor"));
  EXPECT_THAT(Error("deberta-v2-mask", {{"conv_kernel_size", 3}}),
              HasSubstr("embedding_size is 17, expected hidden_size"));
  EXPECT_THAT(Error("deberta-v2-mean-pooling", {{"pos_att_type", "p2p"}}),
              HasSubstr("pos_att_type is \"p2p\", expected c2p, p2c"));
  EXPECT_THAT(Error("deberta-v2-mean-pooling", {{"position_buckets", 3}}),
              HasSubstr("position_buckets is 3, expected 4 or more"));
  EXPECT_THAT(Error("deberta-v2-mask", {{"type_vocab_size", 2}}),
              HasSubstr("embedding_size is 17, expected hidden_size"));
  EXPECT_THAT(Error("new-ntk-mean-pooling", {{"logn_attention_scale", true}}),
              HasSubstr("logn_attention_scale is true"));
  EXPECT_THAT(
      Error("jina-bert-mean-pooling", {{"feed_forward_type", "original"}}),
      HasSubstr("expected geglu or reglu"));
  EXPECT_THAT(Error("esm-mean-pooling", {{"is_folding_model", true}}),
              HasSubstr("is_folding_model is true"));
  EXPECT_THAT(
      Error("esm-mean-pooling", {{"position_embedding_type", "relative_key"}}),
      HasSubstr("expected rotary or absolute"));
  EXPECT_THAT(Error("esm-mean-pooling", {{"mask_token_id", nullptr}}),
              HasSubstr("mask_token_id"));
  EXPECT_THAT(Error("esm-absolute-labels", {{"pad_token_id", nullptr}}),
              HasSubstr("pad_token_id"));
  EXPECT_THAT(Error("albert-mean-pooling", {{"embedding_size", 24}}),
              HasSubstr("embedding_size is 24, expected another number"));
  EXPECT_THAT(Error("eurobert-labels", {{"classifier_pooling", "max"}}),
              HasSubstr("expected bos, mean or late"));
}

TEST(EncoderFamiliesTest, AdaptersAreThoseOfTheConfiguration) {
  const Family family = FamilyOf("jina-v3-adapters");
  EXPECT_EQ(family.model_type, "xlm-roberta");
  EXPECT_THAT(family.adapters, ElementsAre("retrieval.query",
                                           "retrieval.passage", "separation"));
  EXPECT_EQ(family.prompts.at("separation"), "");
  ASSERT_TRUE(family.spec.adapters.has_value());
  EXPECT_EQ(family.spec.adapters->rank, 3);
  EXPECT_FLOAT_EQ(family.spec.adapters->scale, 2.0f / 3);
  // As encode() of that code without files of sentence-transformers.
  EXPECT_TRUE(family.spec.embed.normalize);
  EXPECT_THAT(
      FamilyOf("jina-v3-adapters", {{"emb_pooler", "cls"}}).spec.embed.poolings,
      ElementsAre(Pooling::kCls));

  const Family none = FamilyOf("jina-v3-adapters", {{"lora_adaptations", {}}});
  EXPECT_FALSE(none.spec.adapters.has_value());
  EXPECT_TRUE(none.spec.encoder->layers[0].self_attention.rotary.has_value());
  // Rotary positions are those of the class, too.
  const Family absent =
      FamilyOf("jina-v3-adapters", {{"position_embedding_type", nullptr}});
  EXPECT_TRUE(absent.spec.encoder->layers[0].self_attention.rotary.has_value());
}

TEST(EncoderFamiliesTest, AdaptersThatAreNotComputedAreRefused) {
  const auto error = [](const Json& changes) {
    return Error("jina-v3-adapters", changes);
  };
  EXPECT_THAT(error({{"lora_adaptations", {"a", "a"}}}),
              HasSubstr("1 to 256 different names"));
  EXPECT_THAT(error({{"lora_adaptations", Json::array()}}),
              HasSubstr("1 to 256 different names"));
  EXPECT_THAT(error({{"load_trained_adapters", nullptr}}),
              HasSubstr("expected true where there are lora_adaptations"));
  EXPECT_THAT(error({{"task_instructions", {{"separation", ""}}}}),
              HasSubstr("a text for each lora_adaptation"));
  EXPECT_THAT(
      error({{"task_instructions",
              {{"separation", ""}, {"retrieval.query", ""}, {"x", ""}}}}),
      HasSubstr("a text for each lora_adaptation"));
  EXPECT_THAT(error({{"lora_rank", 0}}), HasSubstr("lora_rank is 0"));
  EXPECT_THAT(error({{"lora_alpha", 0}}), HasSubstr("lora_alpha is 0"));
  EXPECT_THAT(error({{"architectures", {"XLMRobertaForMaskedLM"}}}),
              HasSubstr("expected null where there is a head"));
  EXPECT_THAT(error({{"rotary_emb_interleaved", true}}),
              HasSubstr("rotary_emb_interleaved is true"));
  EXPECT_THAT(error({{"rotary_emb_scale_base", 512}}),
              HasSubstr("rotary_emb_scale_base is 512"));
  EXPECT_THAT(error({{"rotary_emb_dim", 4}}), HasSubstr("rotary_emb_dim is 4"));
  EXPECT_THAT(error({{"truncate_dim", 8}}), HasSubstr("truncate_dim is 8"));
  EXPECT_THAT(error({{"position_embedding_type", "absolute"}}),
              HasSubstr("expected rotary"));
}

TEST(EncoderFamiliesTest, SpecsAreWhatTheConfigurationSays) {
  const Family roberta = FamilyOf("roberta-4x-multi-label");
  EXPECT_EQ(roberta.model_type, "roberta");
  EXPECT_EQ(roberta.spec.encoder->embedding.max_positions, 54);
  EXPECT_EQ(roberta.spec.encoder->embedding.position_offset, 2);
  EXPECT_EQ(roberta.spec.encoder->embedding.uncounted_id, 1);
  EXPECT_EQ(roberta.spec.encoder->embedding.token_types, 1);

  const Family bert = FamilyOf("bert-mask");  // leaves its defaults out
  EXPECT_EQ(bert.spec.encoder->embedding.token_types, 2);
  EXPECT_EQ(bert.spec.encoder->layers[0].norm.epsilon, 1e-12f);
  EXPECT_EQ(bert.spec.head->kind, HeadKind::kMaskedLm);
  EXPECT_EQ(bert.spec.LogitsVocab(), 61);
  EXPECT_TRUE(bert.spec.logits_bias);

  EXPECT_EQ(FamilyOf("electra-4x-regression").spec.encoder->embedding.width,
            14);
  EXPECT_EQ(FamilyOf("mpnet-mean-pooling").spec.encoder->relative_bias->buckets,
            32);
}

// Of the heads of modernbert-4x-labels, as it is and as modernbert-prompts.
std::optional<RotarySpec> Plain(float theta, int head_dim = 10) {
  return RotarySpec{RotaryFrequencies(theta, head_dim)};
}

// Configurations of before the family was in transformers, as those of
// nomic-embed-text, have other words.
TEST(EncoderFamiliesTest, NomicBertsOldWordsMeanTheSame) {
  const nlohmann::json old = {{"hidden_size", nullptr},
                              {"num_hidden_layers", nullptr},
                              {"num_attention_heads", nullptr},
                              {"intermediate_size", nullptr},
                              {"max_position_embeddings", nullptr},
                              {"layer_norm_eps", nullptr},
                              {"rope_parameters", nullptr},
                              {"hidden_act", nullptr},
                              {"head_dim", nullptr},
                              {"n_embd", 24},
                              {"n_layer", 2},
                              {"n_head", 3},
                              {"n_inner", 26},
                              {"n_positions", 56},
                              {"layer_norm_epsilon", 1e-12},
                              {"rotary_emb_base", 1000},
                              {"rotary_emb_fraction", 1.0},
                              {"rotary_emb_scale_base", nullptr},
                              {"activation_function", "swiglu"},
                              {"causal", false},
                              {"prenorm", false}};
  const StackSpec now = *FamilyOf("nomic_bert-mean-pooling").spec.encoder;
  const StackSpec then = *FamilyOf("nomic_bert-mean-pooling", old).spec.encoder;
  EXPECT_EQ(then.layers.size(), now.layers.size());
  EXPECT_EQ(then.embedding.max_positions, 56);
  EXPECT_EQ(then.embedding.token_types, 2);
  const LayerSpec& layer = then.layers[0];
  EXPECT_EQ(layer.norm.epsilon, now.layers[0].norm.epsilon);
  EXPECT_EQ(layer.self_attention.head_dim, 8);
  EXPECT_EQ(layer.self_attention.rotary, Plain(1000, 8));
  EXPECT_EQ(now.layers[0].self_attention.rotary, Plain(1000, 8));
  EXPECT_EQ(layer.feed_forward.activation, Activation::kSilu);
  EXPECT_EQ(layer.feed_forward.width, 26);
  EXPECT_TRUE(layer.feed_forward.gated);
  for (const auto& [key, value] :
       {std::pair<const char*, nlohmann::json>("causal", true),
        {"prenorm", true},
        {"rotary_emb_interleaved", true},
        {"rotary_emb_fraction", 0.5},
        {"rotary_scaling_factor", 2},
        {"moe_every_n_layers", 2},
        {"activation_function", "geglu"}}) {
    nlohmann::json changes = old;
    changes[key] = value;
    EXPECT_THAT(LoadFamily(FixtureConfig("nomic_bert-mean-pooling", changes))
                    .status()
                    .message(),
                HasSubstr(key == std::string("moe_every_n_layers")
                              ? "num_experts is missing"
                              : absl::StrCat(key, " is ")));
  }
}

TEST(EncoderFamiliesTest, NomicBertMayHaveExpertsInSomeLayers) {
  constexpr char kFixture[] = "nomic_bert-experts";
  const std::vector<LayerSpec> layers = FamilyOf(kFixture).spec.encoder->layers;
  ASSERT_EQ(layers.size(), 4u);
  for (size_t i = 0; i < layers.size(); ++i) {
    const FeedForwardSpec& feed_forward = layers[i].feed_forward;
    EXPECT_EQ(feed_forward.width, 18);
    EXPECT_EQ(feed_forward.activation, Activation::kGelu);
    EXPECT_FALSE(feed_forward.gated);
    ASSERT_EQ(feed_forward.experts.has_value(), i % 2 == 1);
    if (i % 2 == 0) continue;
    EXPECT_EQ(*feed_forward.experts,
              (ExpertsSpec{.count = 5, .chosen = 2, .normalized = false}));
  }
  // No number leaves a rest of 1 if it is divided by 1.
  const Family none = FamilyOf(kFixture, {{"moe_every_n_layers", 1}});
  for (const LayerSpec& layer : none.spec.encoder->layers) {
    EXPECT_FALSE(layer.feed_forward.experts.has_value());
  }
}

TEST(EncoderFamiliesTest, NomicBertRefusesExpertsThatItDoesNotCompute) {
  constexpr char kFixture[] = "nomic_bert-experts";
  EXPECT_THAT(Error(kFixture, {{"num_experts", 0}}),
              HasSubstr("num_experts is 0, expected an integer in [1, 1024]"));
  EXPECT_THAT(Error(kFixture, {{"num_experts", 1 << 30}}),
              HasSubstr("num_experts is 1073741824, expected an integer in"));
  EXPECT_THAT(Error(kFixture, {{"num_experts", nullptr}}),
              HasSubstr("num_experts is missing"));
  EXPECT_THAT(Error(kFixture, {{"moe_top_k", 6}}),
              HasSubstr("moe_top_k is 6, expected an integer in [1, 5]"));
  EXPECT_THAT(Error(kFixture, {{"moe_top_k", 0}}),
              HasSubstr("moe_top_k is 0, expected an integer in [1, 5]"));
  EXPECT_THAT(Error(kFixture, {{"activation_function", "swiglu"}}),
              HasSubstr("activation_function is \"swiglu\", expected gelu "
                        "where layers have experts"));
  for (const auto& [key, value] :
       {std::pair<const char*, Json>("expert_choice_router", true),
        {"moe_normalize_expert_weights", true},
        {"num_shared_experts", 1},
        {"ffn_div", 2}}) {
    EXPECT_THAT(Error(kFixture, {{key, value}}),
                HasSubstr(absl::StrCat(key, " is ")));
  }
}

TEST(EncoderFamiliesTest, JinaBertsCodeSaysWhichNormsThereAre) {
  const Json no_code = {{"auto_map", nullptr}, {"_name_or_path", nullptr}};
  const auto layer_of = [](const Json& changes) {
    return FamilyOf("jina-bert-code", changes).spec.encoder->layers[0];
  };
  const LayerSpec layer = layer_of(Json::object());
  EXPECT_EQ(layer.self_attention.head_norm, layer.norm);
  EXPECT_TRUE(layer.self_attention.joint_norm);
  EXPECT_TRUE(layer.sum_norm);
  for (const char* const key : {"auto_map", "_name_or_path"}) {
    EXPECT_EQ(layer_of({{key, nullptr}}), layer) << key;
  }
  EXPECT_FALSE(layer_of(no_code).sum_norm);
  EXPECT_FALSE(layer_of(no_code).self_attention.head_norm.has_value());
}

TEST(EncoderFamiliesTest, ModernBertInBothSpellings) {
  const Family old = FamilyOf("modernbert-4x-labels");
  const std::vector<LayerSpec>& layers = old.spec.encoder->layers;
  ASSERT_EQ(layers.size(), 4u);
  EXPECT_FALSE(layers[0].self_norm);
  EXPECT_TRUE(layers[1].self_norm);
  EXPECT_EQ(layers[0].self_attention.window, 0);
  EXPECT_EQ(layers[1].self_attention.window, 4);
  EXPECT_EQ(layers[2].self_attention.window, 0);
  EXPECT_EQ(layers[0].self_attention.rotary, Plain(80000));
  EXPECT_EQ(layers[1].self_attention.rotary, Plain(1000));

  const auto local_rotary = [](const Json& changes) {
    return FamilyOf("modernbert-4x-labels", changes)
        .spec.encoder->layers[1]
        .self_attention.rotary;
  };
  EXPECT_EQ(local_rotary({{"local_rope_theta", nullptr}}), Plain(80000));
  Json absent;
  std::ifstream(kFixtures + std::string("modernbert-4x-labels/config.json")) >>
      absent;
  absent.erase("local_rope_theta");
  const auto parsed =
      LoadFamily(*JsonFile::Parse("config.json", absent.dump()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->spec.encoder->layers[1].self_attention.rotary,
            Plain(10000));

  const Json rope = {{"full_attention", {{"rope_theta", 7.0}}},
                     {"sliding_attention", {{"rope_type", "default"}}}};
  const Family now =
      FamilyOf("modernbert-prompts",
               {{"num_hidden_layers", 2},
                {"layer_types", {"sliding_attention", "full_attention"}},
                {"rope_parameters", rope}});
  const std::vector<LayerSpec>& other = now.spec.encoder->layers;
  EXPECT_EQ(other[0].self_attention.window, 4);
  EXPECT_EQ(other[0].self_attention.rotary, Plain(10000, 6));
  EXPECT_EQ(other[1].self_attention.window, 0);
  EXPECT_EQ(other[1].self_attention.rotary, Plain(7, 6));
}

TEST(EncoderFamiliesTest, Labels) {
  const Family bert = FamilyOf("bert-4x-labels");
  EXPECT_THAT(bert.labels, ElementsAre("negative", "so so", "positive"));
  EXPECT_EQ(bert.label_scores, LabelScores::kSoftmax);
  const auto scores = [](const Json& changes) {
    return FamilyOf("bert-4x-labels", changes).label_scores;
  };
  EXPECT_EQ(scores({{"problem_type", "regression"}}), LabelScores::kRaw);
  EXPECT_EQ(scores({{"problem_type", "multi_label_classification"}}),
            LabelScores::kSigmoid);
  EXPECT_EQ(scores({{"id2label", {{"0", "x"}}}}), LabelScores::kSigmoid);
  EXPECT_EQ(FamilyOf("bert-reranker").label_scores, LabelScores::kRaw);
  EXPECT_EQ(FamilyOf("modernbert-mean").label_scores, LabelScores::kRaw);
  // A pair is scored as CrossEncoder does, whatever the pipelines do.
  const auto pairs = [](Json changes) {
    changes["id2label"] = {{"0", "x"}};
    return FamilyOf("bert-4x-labels", changes).pair_scores;
  };
  EXPECT_EQ(pairs({}), LabelScores::kSigmoid);
  EXPECT_EQ(pairs({{"problem_type", "regression"}}), LabelScores::kSigmoid);
  EXPECT_EQ(pairs({{"problem_type", "regression"},
                   {"sentence_transformers",
                    {{"activation_fn", "torch.nn.modules.linear.Identity"}}}}),
            LabelScores::kRaw);
  EXPECT_EQ(pairs({{"sbert_ce_default_activation_function",
                    "torch.nn.modules.linear.Identity"}}),
            LabelScores::kRaw);
  EXPECT_THAT(FamilyOf("bert-4x-labels", {{"id2label", nullptr}}).labels,
              ElementsAre("LABEL_0", "LABEL_1"));
  EXPECT_EQ(
      FamilyOf("bert-4x-labels", {{"id2label", nullptr}, {"num_labels", 11}})
          .labels[10],
      "LABEL_10");
  EXPECT_TRUE(FamilyOf("bert-mask").labels.empty());
}

TEST(EncoderFamiliesTest, WhatIsNotSupportedIsNamed) {
  struct Case {
    std::string fixture;
    Json changes;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {"bert-mean-pooling",
            {{"architectures", {"BertLMHeadModel"}}},
            "BertForTokenClassification"},
           {"bert-mean-pooling", {{"is_decoder", true}}, "is_decoder is true"},
           {"bert-mean-pooling",
            {{"add_cross_attention", true}},
            "add_cross_attention"},
           {"bert-mean-pooling",
            {{"position_embedding_type", "relative_key"}},
            "expected absolute"},
           {"bert-mean-pooling",
            {{"pruned_heads", {{"0", {1}}}}},
            "pruned_heads"},
           {"bert-mean-pooling",
            {{"hidden_act", "mish"}},
            "hidden_act is \"mish\""},
           {"bert-mean-pooling",
            {{"hidden_size", 25}},
            "a divisor of the hidden size"},
           {"bert-mean-pooling",
            {{"vocab_size", nullptr}},
            "vocab_size is missing"},
           {"bert-mean-pooling",
            {{"type_vocab_size", -1}},
            "type_vocab_size is -1"},
           {"bert-mean-pooling", {{"layer_norm_eps", "x"}}, "layer_norm_eps"},
           {"bert-4x-labels", {{"problem_type", "ranking"}}, "single_label"},
           {"bert-4x-labels", {{"id2label", Json::object()}}, "id2label"},
           {"bert-4x-labels", {{"num_labels", 0}}, "num_labels is 0"},
           {"bert-reranker",
            {{"sbert_ce_default_activation_function", "my.Own"}},
            "torch.nn.modules.activation.Sigmoid"},
           {"bert-mask", {{"tie_word_embeddings", 1}}, "tie_word_embeddings"},
           {"roberta-cls-pooling",
            {{"pad_token_id", 60}},
            "max_position_embeddings"},
           {"roberta-cls-pooling",
            {{"pad_token_id", -1}},
            "pad_token_id is -1"},
           {"xlm-roberta-dense",
            {{"architectures", {"XLMRobertaForCausalLM"}}},
            "XLMRobertaModel"},
           {"distilbert-max-pooling", {{"n_heads", 0}}, "n_heads is 0"},
           {"distilbert-max-pooling", {{"dim", 1 << 20}}, "dim is 1048576"},
           {"distilbert-max-pooling",
            {{"hidden_size", 32}},
            "hidden_size is 32"},
           {"distilbert-max-pooling",
            {{"activation", "x"}},
            "activation is \"x\""},
           {"mpnet-mean-pooling",
            {{"relative_attention_num_buckets", 16}},
            "relative_attention_num_buckets is 16"},
           {"electra-last-pooling",
            {{"embedding_size", 0}},
            "embedding_size is 0"},
           {"modernbert-prompts",
            {{"local_attention", 1}},
            "local_attention is 1"},
           {"modernbert-prompts",
            {{"layer_types", {"full_attention"}}},
            "4 times full_attention"},
           {"modernbert-prompts",
            {{"num_hidden_layers", 1}, {"layer_types", {"linear_attention"}}},
            "linear_attention"},
           {"modernbert-prompts",
            {{"rope_parameters", {{"full_attention", {{"rope_type", "ntk"}}}}}},
            "rope_type is \"ntk\""},
           {"modernbert-prompts",
            {{"rope_scaling", {{"type", "linear"}}}},
            "rope_scaling"},
           {"modernbert-prompts",
            {{"num_attention_heads", 8}},
            "of an even size"},
           {"modernbert-4x-labels",
            {{"classifier_pooling", "max"}},
            "cls or mean"},
           {"modernbert-prompts", {{"norm_bias", "no"}}, "norm_bias is \"no\""},
       }) {
    EXPECT_THAT(Error(c.fixture, c.changes),
                AllOf(HasSubstr("config.json"), HasSubstr(c.error)));
  }
}

}  // namespace
}  // namespace attend
