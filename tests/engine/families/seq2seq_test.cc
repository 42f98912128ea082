// What config.json of the encoder-decoders means, beyond what their golden
// results show.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/families/load_family.h"
#include "tests/engine/families/config.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Json = nlohmann::json;

TransformerSpec Spec(const std::string& fixture,
                     const Json& changes = Json::object()) {
  const auto family = LoadFamily(FixtureConfig(fixture, changes));
  EXPECT_TRUE(family.ok()) << family.status();
  return family->spec;
}

Activation ActivationFor(const std::string& name) {
  return Spec("bart-gelu", {{"activation_function", name}})
      .encoder->layers[0]
      .feed_forward.activation;
}

TEST(Seq2SeqTest, ActivationsByEveryName) {
  EXPECT_EQ(ActivationFor("relu"), Activation::kRelu);
  for (const char* name : {"gelu", "gelu_python"}) {
    EXPECT_EQ(ActivationFor(name), Activation::kGelu) << name;
  }
  for (const char* name : {"gelu_new", "gelu_fast", "gelu_accurate",
                           "gelu_pytorch_tanh", "gelu_python_tanh"}) {
    EXPECT_EQ(ActivationFor(name), Activation::kGeluTanh) << name;
  }
  EXPECT_EQ(ActivationFor("silu"), Activation::kSilu);
  EXPECT_EQ(ActivationFor("swish"), Activation::kSilu);
  EXPECT_EQ(ActivationFor("tanh"), Activation::kTanh);
  EXPECT_EQ(ActivationFor("linear"), Activation::kNone);
}

TEST(Seq2SeqTest, DefaultsOfWhatConfigurationsLeaveOut) {
  const Json without = {{"activation_function", nullptr},
                        {"scale_embedding", nullptr},
                        {"tie_word_embeddings", nullptr},
                        {"pad_token_id", nullptr},
                        {"architectures", nullptr}};
  for (const char* fixture :
       {"bart-4x-scaled-long", "mbart-4x-scaled", "pegasus-4x-scaled-long"}) {
    const TransformerSpec spec = Spec(fixture, without);
    EXPECT_EQ(spec.encoder->embedding.scale, 1) << fixture;
    EXPECT_EQ(spec.decoder->layers[0].feed_forward.activation,
              Activation::kGelu)
        << fixture;
  }
  const TransformerSpec m2m = Spec("m2m_100-gelu", without);
  EXPECT_EQ(m2m.encoder->embedding.scale, std::sqrt(24.0f));
  EXPECT_EQ(m2m.encoder->layers[0].feed_forward.activation, Activation::kRelu);
  EXPECT_EQ(m2m.decoder->embedding.position_offset, 2);

  const TransformerSpec t5 =
      Spec("t5-few-buckets", {{"num_decoder_layers", nullptr},
                              {"feed_forward_proj", nullptr},
                              {"dense_act_fn", nullptr},
                              {"is_gated_act", nullptr},
                              {"layer_norm_epsilon", nullptr}});
  EXPECT_EQ(t5.decoder->layers.size(), 2u);
  EXPECT_FALSE(t5.decoder->layers[0].feed_forward.gated);
  EXPECT_EQ(t5.decoder->layers[0].feed_forward.activation, Activation::kRelu);
  EXPECT_EQ(t5.decoder->layers[0].norm.epsilon, 1e-6f);
  const TransformerSpec mt5 = Spec("mt5-4x", {{"feed_forward_proj", nullptr}});
  EXPECT_TRUE(mt5.decoder->layers[0].feed_forward.gated);
  EXPECT_EQ(mt5.decoder->layers[0].feed_forward.activation,
            Activation::kGeluTanh);
}

TEST(Seq2SeqTest, PositionsCountFromTheOneAfterPadding) {
  const EmbeddingSpec embedding =
      Spec("m2m_100-gelu", {{"pad_token_id", 5}}).encoder->embedding;
  EXPECT_EQ(embedding.position_offset, 6);
  EXPECT_EQ(embedding.uncounted_id, 5);
}

TEST(Seq2SeqTest, AnEncoderAloneHasNoDecoder) {
  for (const Json& flag : {Json(true), Json(false), Json()}) {
    const TransformerSpec spec = Spec(
        "t5-few-buckets",
        {{"architectures", {"T5EncoderModel"}}, {"is_encoder_decoder", flag}});
    EXPECT_TRUE(spec.encoder.has_value());
    EXPECT_FALSE(spec.decoder.has_value());
    EXPECT_EQ(spec.logits_scale, 1);
  }
}

TEST(Seq2SeqTest, AHeadReadsTheStackThatHasIt) {
  const HeadSpec bart = *Spec("bart-inference").head;
  EXPECT_TRUE(bart.reads_decoder && bart.reads_end && !bart.wraps_source);
  const HeadSpec mbart = *Spec("mbart-labels").head;
  EXPECT_TRUE(mbart.reads_decoder && mbart.reads_end && mbart.wraps_source);
  const HeadSpec spans = *Spec("mbart-spans").head;
  EXPECT_TRUE(spans.reads_decoder && !spans.reads_end && spans.wraps_source);
  const HeadSpec gemma = *Spec("t5gemma-labels").head;
  EXPECT_TRUE(gemma.reads_decoder && !gemma.reads_end);
  EXPECT_EQ(gemma.first_id, 2);  // of the decoder, not of the whole
  const TransformerSpec alone = Spec("t5gemma-encoder-labels");
  EXPECT_FALSE(alone.decoder || alone.head->reads_decoder);
  EXPECT_EQ(alone.head->pooling, Pooling::kLast);
  EXPECT_EQ(alone.hidden, 21);  // the decoder has 18
}

TEST(Seq2SeqTest, LogitsOfT5AreScaledAsTheFileSays) {
  const float scaled = 1 / std::sqrt(24.0f);
  const auto scale = [](const Json& tied, const Json& scales) {
    return Spec("t5-few-buckets", {{"tie_word_embeddings", tied},
                                   {"scale_decoder_outputs", scales}})
        .logits_scale;
  };
  EXPECT_EQ(scale(nullptr, nullptr), scaled);
  EXPECT_EQ(scale(true, nullptr), scaled);
  EXPECT_EQ(scale(false, nullptr), 1);
  EXPECT_EQ(scale(true, false), 1);
  EXPECT_EQ(scale(false, true), scaled);
  EXPECT_EQ(Spec("mt5-long", {{"scale_decoder_outputs", true}}).logits_scale,
            1);
}

TEST(Seq2SeqTest, FeedForwardOfT5) {
  const auto feed_forward = [](const std::string& text) {
    return Spec("t5-v1_1-4x", {{"feed_forward_proj", text}})
        .encoder->layers[0]
        .feed_forward;
  };
  EXPECT_TRUE(feed_forward("gated-gelu").gated);
  EXPECT_EQ(feed_forward("gated-gelu").activation, Activation::kGeluTanh);
  EXPECT_TRUE(feed_forward("gated-silu").gated);
  EXPECT_EQ(feed_forward("gated-silu").activation, Activation::kSilu);
  EXPECT_FALSE(feed_forward("gelu").gated);
  EXPECT_EQ(feed_forward("gelu").activation, Activation::kGelu);
}

// A fixture whose configuration has a section for each stack, with some keys of
// one of them changed.
absl::StatusOr<Family> Section(const std::string& fixture,
                               const std::string& name, const Json& changes) {
  Json config;
  std::ifstream(ATTEND_SOURCE_DIR "/tests/golden/families/" + fixture +
                "/config.json") >>
      config;
  config[name].update(changes);
  return LoadFamily(*JsonFile::Parse("config.json", config.dump()));
}

TEST(Seq2SeqTest, AMistakeOfASectionIsNamedWithIt) {
  struct Case {
    std::string fixture, section;
    Json changes;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {"bert2bert", "decoder", {{"model_type", "gpt2"}}, "one of bert, "},
           {"bert2bert", "decoder", {{"is_decoder", false}}, "is_decoder is"},
           {"bert2bert",
            "decoder",
            {{"add_cross_attention", false}},
            "add_cross_attention is false"},
           {"bert2bert",
            "decoder",
            {{"hidden_size", 28}},
            "hidden_size is 28, expected that of the encoder, 21"},
           {"bert2bert",
            "encoder",
            {{"model_type", "encoder-decoder"}},
            "expected that of an encoder"},
           {"bert2bert",
            "encoder",
            {{"model_type", "gpt2"}, {"n_embd", 24}, {"n_head", 2}},
            ""},
           {"bert2bert", "encoder", {{"is_decoder", true}}, "is_decoder is"},
           {"bert2bert", "encoder", {{"vocab_size", -1}}, "vocab_size is -1"},
           {"t5gemma-windows-long",
            "encoder",
            {{"hidden_size", 24}},
            "hidden_size is 20, expected that of the encoder, 24"},
           {"t5gemma-windows-long",
            "decoder",
            {{"sliding_window", 1}},
            "sliding_window is 1"},
       }) {
    const auto family = Section(c.fixture, c.section, c.changes);
    EXPECT_TRUE(absl::IsInvalidArgument(family.status()))
        << c.fixture << c.changes;
    EXPECT_THAT(std::string(family.status().message()),
                AllOf(HasSubstr("config.json"), HasSubstr(c.error)));
  }
  for (const char* section : {"encoder", "decoder"}) {
    const auto family =
        LoadFamily(FixtureConfig("bert2bert", {{section, nullptr}}));
    EXPECT_THAT(std::string(family.status().message()),
                HasSubstr(std::string(section) + " is missing"));
  }
}

// transformers before 5 could save one copy of both stacks' weights.
TEST(Seq2SeqTest, TiedStacksMayBeOneCopy) {
  const auto alternatives = [](const Json& tied, const std::string& slot) {
    const auto family =
        LoadFamily(FixtureConfig("bert2bert", {{"tie_encoder_decoder", tied}}));
    EXPECT_TRUE(family.ok()) << family.status();
    for (const NameRow& row : family->names.rows) {
      if (row.slot == slot) return row.tensors;
    }
    return std::vector<std::string>();
  };
  const std::string source =
      "encoder.encoder.layer.{}.attention.self.query.weight";
  const std::string target =
      "decoder.bert.encoder.layer.{}.attention.self.query.weight";
  EXPECT_THAT(alternatives(true, "decoder.{}.self.q.weight"),
              IsSupersetOf({target, source}));
  EXPECT_THAT(alternatives(true, "encoder.{}.self.q.weight"),
              IsSupersetOf({target, source}));
  EXPECT_THAT(alternatives(false, "decoder.{}.self.q.weight"),
              Not(Contains(source)));
  EXPECT_THAT(alternatives(true, "decoder.{}.cross.q.weight"),
              Not(Contains(HasSubstr("encoder.encoder"))));
}

TEST(Seq2SeqTest, WhatIsNotSupportedIsNamed) {
  struct Case {
    std::string fixture;
    Json changes;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {"bart-gelu",
            {{"architectures", {"BartForTokenClassification"}}},
            "expected one of BartForConditionalGeneration, BartModel"},
           {"bart-gelu",
            {{"activation_function", "quick_gelu"}},
            "activation_function is \"quick_gelu\", expected one of gelu, "},
           {"bart-gelu", {{"normalize_before", true}}, "normalize_before"},
           {"bart-gelu",
            {{"normalize_embedding", false}},
            "normalize_embedding"},
           {"bart-gelu",
            {{"static_position_embeddings", true}},
            "static_posit"},
           {"bart-gelu",
            {{"add_bias_logits", true}},
            "add_bias_logits is true"},
           {"bart-gelu",
            {{"add_final_layer_norm", true}},
            "add_final_layer_norm"},
           {"bart-gelu", {{"encoder_attention_heads", 5}}, "divisor"},
           {"bart-gelu",
            {{"max_position_embeddings", 1 << 20}},
            "max_position"},
           {"mbart-4x-scaled",
            {{"normalize_before", false}},
            "normalize_before"},
           {"mbart-4x-scaled",
            {{"add_final_layer_norm", false}},
            "add_final_layer"},
           {"mbart-4x-scaled",
            {{"architectures", {"MBartForTokenClassification"}}},
            "MBartForSequenceClassification, MBartForQuestionAnswering"},
           {"plbart-4x",
            {{"architectures", {"PLBartForQuestionAnswering"}}},
            "PLBartModel, PLBartForSequenceClassification"},
           {"t5gemma-windows-long",
            {{"architectures", {"T5GemmaForQuestionAnswering"}}},
            "T5GemmaEncoderModel, T5GemmaForSequenceClassification"},
           {"m2m_100-gelu",
            {{"d_model", 27}, {"decoder_attention_heads", 3}},
            "d_model is 27, expected an even"},
           {"m2m_100-gelu", {{"pad_token_id", 1 << 20}}, "pad_token_id"},
           {"m2m_100-gelu", {{"is_decoder", true}}, "is_decoder is true"},
           {"pegasus-gelu", {{"static_position_embeddings", false}}, "static_"},
           {"pegasus-gelu",
            {{"normalize_embedding", true}},
            "normalize_embedd"},
           {"t5-few-buckets",
            {{"architectures", {"T5ForMaskedLM"}}},
            "T5EncoderModel"},
           {"t5-few-buckets",
            {{"feed_forward_proj", "relu-gelu"}},
            "gated-<activation>"},
           {"t5-few-buckets",
            {{"feed_forward_proj", "a-b-c"}},
            "gated-<activation>"},
           {"t5-few-buckets",
            {{"dense_act_fn", "mish"}},
            "dense_act_fn is \"mish\""},
           {"t5-4x-long",
            {{"feed_forward_proj", "mish"}},
            "expected one of gelu, "},
           {"t5-few-buckets",
            {{"is_encoder_decoder", false}},
            "is_encoder_decoder"},
           {"t5-few-buckets", {{"d_kv", 0}}, "d_kv is 0"},
           {"t5-few-buckets", {{"num_heads", nullptr}}, "num_heads is missing"},
           {"t5-few-buckets",
            {{"layer_norm_epsilon", 0}},
            "layer_norm_epsilon is 0"},
           {"t5-few-buckets",
            {{"relative_attention_num_buckets", 2}},
            "num_buckets is"},
           {"t5-few-buckets",
            {{"relative_attention_num_buckets", 9}},
            "relative_attention_num_buckets is 9, expected an even number"},
           {"t5-few-buckets",
            {{"relative_attention_max_distance", 4}},
            "relative_attention_max_distance is 4"},
           {"t5-4x-long",
            {{"relative_attention_num_buckets", 256}},
            "relative_attention_max_distance is missing"},
       }) {
    const auto family = LoadFamily(FixtureConfig(c.fixture, c.changes));
    EXPECT_TRUE(absl::IsInvalidArgument(family.status()))
        << c.fixture << c.changes;
    EXPECT_THAT(std::string(family.status().message()),
                AllOf(HasSubstr("config.json"), HasSubstr(c.error)));
  }
}

}  // namespace
}  // namespace attend
