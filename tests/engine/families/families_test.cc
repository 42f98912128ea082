#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoint.h"
#include "engine/families/family.h"
#include "engine/families/generation_config.h"
#include "tests/engine/families/config.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kModels[] = ATTEND_SOURCE_DIR "/models";
constexpr char kGolden[] = ATTEND_SOURCE_DIR "/tests/golden";

std::string Error(const Json& changes) {
  const auto family = LoadFamily(Config(changes));
  EXPECT_TRUE(absl::IsInvalidArgument(family.status())) << changes;
  return std::string(family.status().message());
}

TEST(MarianTest, ReadsTheBundledModel) {
  const auto family = LoadFamily(Config());
  ASSERT_TRUE(family.ok()) << family.status();
  EXPECT_EQ(family->model_type, "marian");
  EXPECT_EQ(family->spec.hidden, 256);
  EXPECT_TRUE(family->spec.logits_bias);
  const StackSpec& encoder = *family->spec.encoder;
  const StackSpec& decoder = *family->spec.decoder;
  EXPECT_EQ(encoder.layers.size(), 3u);
  EXPECT_FALSE(encoder.causal);
  EXPECT_TRUE(decoder.causal);
  EXPECT_FALSE(encoder.layers[0].cross_attention.has_value());
  ASSERT_TRUE(decoder.layers[0].cross_attention.has_value());
  EXPECT_EQ(decoder.layers[0].cross_attention->scale, 0.125f);
  EXPECT_EQ(decoder.layers[0].feed_forward.activation, Activation::kSilu);
  EXPECT_EQ(encoder.embedding.scale, 16.0f);
  EXPECT_EQ(encoder.embedding.vocab, 8001);
  EXPECT_EQ(encoder.embedding.max_positions, 512);
}

TEST(MarianTest, EncoderAndDecoderMayDiffer) {
  const auto family =
      LoadFamily(Config({{"decoder_layers", 1},
                         {"decoder_attention_heads", 8},
                         {"encoder_ffn_dim", 96},
                         {"scale_embedding", false},
                         {"decoder_vocab_size", 77},
                         {"share_encoder_decoder_embeddings", false}}));
  ASSERT_TRUE(family.ok()) << family.status();
  EXPECT_EQ(family->spec.encoder->layers.size(), 3u);
  EXPECT_EQ(family->spec.decoder->layers.size(), 1u);
  EXPECT_EQ(family->spec.encoder->layers[0].self_attention.head_dim, 64);
  EXPECT_EQ(family->spec.decoder->layers[0].self_attention.head_dim, 32);
  EXPECT_EQ(family->spec.encoder->layers[0].feed_forward.width, 96);
  EXPECT_EQ(family->spec.encoder->embedding.scale, 1.0f);
  EXPECT_EQ(family->spec.encoder->embedding.vocab, 8001);
  EXPECT_EQ(family->spec.decoder->embedding.vocab, 77);
}

TEST(MarianTest, BothSpellingsOfANumber) {
  EXPECT_TRUE(
      LoadFamily(Config({{"num_hidden_layers", 3}, {"hidden_size", 256}}))
          .ok());
  EXPECT_TRUE(
      LoadFamily(Config({{"d_model", nullptr}, {"hidden_size", 256}})).ok());
  EXPECT_THAT(Error({{"num_hidden_layers", 6}}),
              HasSubstr("num_hidden_layers is 6"));
}

TEST(MarianTest, WhatIsNotSupportedIsNamed) {
  struct Case {
    Json changes;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {{{"model_type", "bart"}},
            "model_type is \"bart\", expected one of marian"},
           {{{"model_type", nullptr}}, "model_type is missing"},
           {{{"architectures", {"MarianModel"}}}, "architectures"},
           {{{"activation_function", "mish"}}, "expected one of gelu, gelu_python, gelu_new"},
           {{{"static_position_embeddings", false}}, "static_position"},
           {{{"normalize_before", true}}, "normalize_before"},
           {{{"normalize_embedding", true}}, "normalize_embedding"},
           {{{"add_final_layer_norm", true}}, "add_final_layer_norm"},
           {{{"is_decoder", true}}, "is_decoder"},
           {{{"is_encoder_decoder", false}}, "is_encoder_decoder"},
           {{{"encoder_attention_heads", 3}}, "a divisor of the hidden size, 256"},
           {{{"d_model", 255}}, "d_model is 255"},
           {{{"d_model", 0}}, "d_model is 0"},
           {{{"d_model", -256}}, "d_model is -256"},
           {{{"d_model", 1 << 30}}, "d_model"},
           {{{"d_model", "256"}}, "d_model is \"256\""},
           {{{"d_model", 256.5}}, "d_model is 256.5"},
           {{{"vocab_size", 9e15}}, "vocab_size"},
           {{{"vocab_size", nullptr}}, "vocab_size is missing"},
           {{{"decoder_layers", 1000000000}}, "decoder_layers"},
           {{{"encoder_ffn_dim", 0}}, "encoder_ffn_dim is 0"},
           {{{"decoder_attention_heads", nullptr}}, "decoder_attention_heads"},
           {{{"max_position_embeddings", 1000000000}}, "max_position"},
           {{{"scale_embedding", 1}}, "scale_embedding is 1"},
           {{{"tie_word_embeddings", "yes"}}, "tie_word_embeddings"},
       }) {
    EXPECT_THAT(Error(c.changes),
                AllOf(HasSubstr("config.json"), HasSubstr(c.error)));
  }
}

// Reads every slot that the transformer asks for, as it does.
absl::Status ReadAll(const std::string& directory) {
  const auto config = JsonFile::Load(directory + "/config.json");
  if (!config.ok()) return config.status();
  const auto family = LoadFamily(*config);
  if (!family.ok()) return family.status();
  const auto checkpoint = Checkpoint::Open(directory);
  if (!checkpoint.ok()) return checkpoint.status();
  Weights weights(*checkpoint, family->names);
  absl::Status status;
  const auto read = [&](const std::string& slot, std::vector<int64_t> shape) {
    status.Update(weights.Read(slot, shape).status());
  };
  const int64_t d = family->spec.hidden;
  read("encoder.embedding.tokens", {family->spec.encoder->embedding.vocab, d});
  read("decoder.embedding.tokens", {family->spec.decoder->embedding.vocab, d});
  read("logits.weight", {family->spec.decoder->embedding.vocab, d});
  read("logits.bias", {family->spec.decoder->embedding.vocab});
  for (const bool decoder : {false, true}) {
    const StackSpec& stack =
        decoder ? *family->spec.decoder : *family->spec.encoder;
    for (size_t i = 0; i < stack.layers.size(); ++i) {
      const std::string prefix =
          (decoder ? "decoder." : "encoder.") + std::to_string(i) + ".";
      const int64_t width = stack.layers[i].feed_forward.width;
      for (const std::string attention : {"self", "cross"}) {
        if (attention == "cross" && !decoder) continue;
        for (const std::string part : {"q", "k", "v", "out"}) {
          read(prefix + attention + "." + part + ".weight", {d, d});
          read(prefix + attention + "." + part + ".bias", {d});
        }
        read(prefix + attention + ".norm.weight", {d});
        read(prefix + attention + ".norm.bias", {d});
      }
      read(prefix + "ffn.in.weight", {width, d});
      read(prefix + "ffn.in.bias", {width});
      read(prefix + "ffn.out.weight", {d, width});
      read(prefix + "ffn.out.bias", {d});
      read(prefix + "ffn.norm.weight", {d});
      read(prefix + "ffn.norm.bias", {d});
    }
  }
  status.Update(weights.CheckAllRead());
  status.Update(
      LoadGenerationParams(directory, *config, family->spec).status());
  return status;
}

TEST(FamilyTest, EverySlotOfTheBundledModelAndOfEveryFixture) {
  EXPECT_TRUE(ReadAll(std::string(kModels) + "/en-de").ok());
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    // A fixture is whole once its expectations are there.
    if (!fs::exists(entry.path() / "config.json") ||
        (!fs::exists(entry.path() / "expected.json") &&
         !fs::exists(entry.path() / "pytorch_model.bin"))) {
      continue;
    }
    const absl::Status status = ReadAll(entry.path());
    if (fs::exists(entry.path() / "pytorch_model.bin")) {
      EXPECT_THAT(status.message(), HasSubstr("save_pretrained"));
    } else {
      EXPECT_TRUE(status.ok()) << entry.path() << ": " << status;
    }
  }
}

}  // namespace
}  // namespace attend
