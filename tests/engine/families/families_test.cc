#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/weights.h"
#include "engine/compute/compute.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/generation_config.h"
#include "engine/transformer/transformer.h"
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
           {{{"model_type", "rwkv"}},
            "model_type is \"rwkv\", expected one of albert, arcee, bart, "
            "bert, "},
           {{{"model_type", nullptr}}, "model_type is missing"},
           {{{"architectures", {"MarianForCausalLM"}}}, "architectures"},
           {{{"activation_function", "mish"}},
            "expected one of gelu, gelu_python, gelu_new"},
           {{{"static_position_embeddings", false}}, "static_position"},
           {{{"normalize_before", true}}, "normalize_before"},
           {{{"normalize_embedding", true}}, "normalize_embedding"},
           {{{"add_final_layer_norm", true}}, "add_final_layer_norm"},
           {{{"is_decoder", true}}, "is_decoder"},
           {{{"is_encoder_decoder", false}}, "is_encoder_decoder"},
           {{{"encoder_attention_heads", 3}},
            "a divisor of the hidden size, 256"},
           {{{"d_model", 255},
             {"encoder_attention_heads", 1},
             {"decoder_attention_heads", 1}},
            "d_model is 255"},
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

// Loads the model as the engine does, with some keys of config.json changed.
absl::Status LoadAll(const std::string& directory,
                     const Json& changes = Json::object()) {
  Json json;
  std::ifstream(directory + "/config.json") >> json;
  json.update(changes);
  const JsonFile config = *JsonFile::Parse("config.json", json.dump());
  const auto family = LoadFamily(config);
  if (!family.ok()) return family.status();
  const auto checkpoint = Checkpoint::Open(directory);
  if (!checkpoint.ok()) return checkpoint.status();
  Weights weights(*checkpoint, family->names);
  Compute compute({.threads = 1});
  absl::Status status =
      Transformer::Load(compute, family->spec, weights, {.max_rows = 8})
          .status();
  if (status.ok()) status = weights.CheckAllRead();
  if (status.ok() && family->spec.decoder) {
    status = LoadGenerationDefaults(directory, config, family->spec).status();
  }
  return status;
}

// Directories of checkpoints of encoder-decoders under `parent`.
std::vector<std::string> Fixtures(const std::string& parent) {
  std::vector<std::string> directories;
  for (const auto& entry : fs::directory_iterator(parent)) {
    // A fixture is whole once its expectations are there.
    if (!fs::exists(entry.path() / "config.json") ||
        !fs::exists(entry.path() / "expected.json")) {
      continue;
    }
    // An encoder alone, whatever config.json says.
    if (fs::exists(entry.path() / "modules.json")) continue;
    Json config;
    std::ifstream(entry.path() / "config.json") >> config;
    const bool labels_tokens = absl::EndsWith(
        config["architectures"][0].get<std::string>(), "TokenClassification");
    if (config.value("is_encoder_decoder", false) && !labels_tokens) {
      directories.push_back(entry.path());
    }
  }
  return directories;
}

TEST(FamilyTest, EveryTensorOfEveryCheckpointHasItsSlot) {
  std::vector<std::string> directories =
      Fixtures(std::string(kGolden) + "/marian");
  for (std::string& directory : Fixtures(std::string(kGolden) + "/families")) {
    directories.push_back(std::move(directory));
  }
  directories.push_back(std::string(kModels) + "/en-de");
  EXPECT_GE(directories.size(), 28u);
  for (const std::string& directory : directories) {
    EXPECT_EQ(LoadAll(directory), absl::OkStatus()) << directory;
  }
  EXPECT_THAT(LoadAll(std::string(kGolden) + "/marian/flax-only").message(),
              HasSubstr("flax_model.msgpack"));
}

TEST(FamilyTest, CheckpointsThatAreNotWhatTheConfigurationSays) {
  for (const std::string& directory :
       Fixtures(std::string(kGolden) + "/families")) {
    Json config;
    std::ifstream(directory + "/config.json") >> config;
    // The sizes are those of sections.
    if (config.contains("encoder")) continue;
    const std::string layers =
        config.contains("d_kv") ? "num_decoder_layers" : "decoder_layers";
    const std::string layer = config.contains("d_kv") ? "block." : "layers.";
    const int count = config[layers];
    EXPECT_THAT(LoadAll(directory, {{layers, count + 1}}).message(),
                HasSubstr("decoder." + layer + std::to_string(count) + "."))
        << "missing; " << directory;
    if (count > 1) {
      EXPECT_THAT(
          LoadAll(directory, {{layers, count - 1}}).message(),
          HasSubstr("decoder." + layer + std::to_string(count - 1) + "."))
          << "left over; " << directory;
    }
    const char* const vocab =
        config.contains("tgt_vocab_size") ? "tgt_vocab_size" : "vocab_size";
    EXPECT_THAT(LoadAll(directory, {{vocab, 68}}).message(),
                AllOf(HasSubstr("[67, "), HasSubstr("[68, ")))
        << directory;
  }
}

}  // namespace
}  // namespace attend
