#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoint.h"
#include "engine/families/family.h"
#include "engine/families/generation_config.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kModels[] = ATTEND_SOURCE_DIR "/models";
constexpr char kGolden[] = ATTEND_SOURCE_DIR "/tests/golden";

Json Read(const std::string& path) {
  Json json;
  std::ifstream(path) >> json;
  return json;
}

// The bundled model's configuration with some keys changed (null: removed).
JsonFile Config(const Json& changes = Json::object()) {
  Json json = Read(std::string(kModels) + "/en-de/config.json");
  json.update(changes);
  return *JsonFile::Parse("config.json", json.dump());
}

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
            "model_type is \"bart\", expected marian"},
           {{{"model_type", nullptr}}, "model_type is missing"},
           {{{"architectures", {"MarianModel"}}}, "architectures"},
           {{{"activation_function", "gelu_new"}}, "gelu_new"},
           {{{"static_position_embeddings", false}}, "static_position"},
           {{{"normalize_before", true}}, "normalize_before"},
           {{{"normalize_embedding", true}}, "normalize_embedding"},
           {{{"add_final_layer_norm", true}}, "add_final_layer_norm"},
           {{{"is_decoder", true}}, "is_decoder"},
           {{{"is_encoder_decoder", false}}, "is_encoder_decoder"},
           {{{"encoder_attention_heads", 3}}, "a divisor of d_model = 256"},
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
  read("source.embedding", {family->spec.encoder->embedding.vocab, d});
  read("target.embedding", {family->spec.decoder->embedding.vocab, d});
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
        !fs::exists(entry.path() / "expected.json")) {
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

class GenerationConfigTest : public testing::Test {
 protected:
  GenerationConfigTest() {
    std::string name = testing::TempDir() + "attend-XXXXXX";
    directory_ = mkdtemp(name.data());
    spec_ = LoadFamily(Config())->spec;
  }
  ~GenerationConfigTest() override { fs::remove_all(directory_); }

  // generation_config.json with a start token and the given keys.
  absl::StatusOr<GenerationParams> Load(Json keys) {
    keys.emplace("decoder_start_token_id", 8000);  // unless it is there
    std::ofstream(directory_ + "/generation_config.json") << keys.dump();
    return LoadGenerationParams(directory_, Config(), spec_);
  }
  std::string directory_;
  TransformerSpec spec_;
};

TEST_F(GenerationConfigTest, DefaultsAreThoseOfTransformers) {
  const auto params = Load(Json::object());
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->max_new_tokens, 20);
  EXPECT_EQ(params->num_beams, 1);
  EXPECT_EQ(params->early_stopping, EarlyStopping::kFalse);
  EXPECT_EQ(params->top_k, 50);
  EXPECT_EQ(params->length_penalty, 1.0f);
  EXPECT_EQ(params->forced_eos_id, -1);  // config.json's does not count
  EXPECT_EQ(params->pad_id, -1);
  EXPECT_TRUE(params->eos_ids.empty());
  EXPECT_EQ(params->decoder_start_id, 8000);
}

TEST_F(GenerationConfigTest, ReadsEveryField) {
  const auto params = Load({{"max_length", 100},
                            {"min_length", 4},
                            {"num_beams", 6},
                            {"num_return_sequences", 2},
                            {"length_penalty", 0.6},
                            {"early_stopping", "never"},
                            {"temperature", 0.5},
                            {"top_k", 0},
                            {"top_p", 0.9},
                            {"min_p", 0.1},
                            {"repetition_penalty", 1.2},
                            {"no_repeat_ngram_size", 3},
                            {"renormalize_logits", true},
                            {"bad_words_ids", {{8000}, {1, 2}}},
                            {"stop_strings", "END"},
                            {"eos_token_id", {0, 5}},
                            {"pad_token_id", 8000},
                            {"forced_bos_token_id", 7},
                            {"forced_eos_token_id", {0}}});
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->max_new_tokens, 99);  // less the decoder start
  EXPECT_EQ(params->min_new_tokens, 3);
  EXPECT_EQ(params->num_beams, 6);
  EXPECT_EQ(params->num_return_sequences, 2);
  EXPECT_EQ(params->length_penalty, 0.6f);
  EXPECT_EQ(params->early_stopping, EarlyStopping::kNever);
  EXPECT_EQ(params->temperature, 0.5f);
  EXPECT_EQ(params->top_k, 0);
  EXPECT_EQ(params->top_p, 0.9f);
  EXPECT_EQ(params->min_p, 0.1f);
  EXPECT_EQ(params->repetition_penalty, 1.2f);
  EXPECT_EQ(params->no_repeat_ngram_size, 3);
  EXPECT_TRUE(params->renormalize_logits);
  EXPECT_THAT(params->bad_words,
              ElementsAre(ElementsAre(8000), ElementsAre(1, 2)));
  EXPECT_THAT(params->stop_strings, ElementsAre("END"));
  EXPECT_THAT(params->eos_ids, ElementsAre(0, 5));
  EXPECT_EQ(params->pad_id, 8000);
  EXPECT_EQ(params->forced_bos_id, 7);
  EXPECT_EQ(params->forced_eos_id, 0);
}

TEST_F(GenerationConfigTest, Lengths) {
  EXPECT_EQ(Load({{"max_length", 9}, {"max_new_tokens", 30}})->max_new_tokens,
            30);
  EXPECT_EQ(Load({{"max_new_tokens", 100000}})->max_new_tokens, 511);
  EXPECT_EQ(Load({{"min_length", 1}})->min_new_tokens, 0);
  EXPECT_EQ(Load({{"min_length", 9}, {"min_new_tokens", 2}})->min_new_tokens,
            2);
  EXPECT_THAT(Load({{"min_new_tokens", 30}}).status().message(),
              HasSubstr("min_new_tokens is 30"));
}

TEST_F(GenerationConfigTest, OldModelsSayItInConfigJson) {
  const auto params =
      LoadGenerationParams(directory_,
                           Config({{"num_beams", 6},
                                   {"max_length", 512},
                                   {"early_stopping", true},
                                   {"bad_words_ids", {{8000}}},
                                   {"bos_token_id", 0},
                                   {"force_bos_token_to_be_generated", true}}),
                           spec_);
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->num_beams, 6);
  EXPECT_EQ(params->max_new_tokens, 511);
  EXPECT_EQ(params->early_stopping, EarlyStopping::kTrue);
  EXPECT_EQ(params->forced_bos_id, 0);
  EXPECT_EQ(params->forced_eos_id, 0);
}

TEST_F(GenerationConfigTest, WrongOrUnsupportedFieldsAreNamed) {
  for (const Json& keys : std::vector<Json>{
           {{"num_beam_groups", 2}},
           {{"diversity_penalty", 0.5}},
           {{"penalty_alpha", 0.6}},
           {{"constraints", {1}}},
           {{"typical_p", 0.9}},
           {{"encoder_repetition_penalty", 1.5}},
           {{"encoder_no_repeat_ngram_size", 2}},
           {{"exponential_decay_length_penalty", {1, 1.1}}},
           {{"suppress_tokens", {3}}},
           {{"begin_suppress_tokens", {3}}},
           {{"guidance_scale", 2}},
           {{"max_time", 3.5}},
           {{"num_beams", 0}},
           {{"num_beams", "4"}},
           {{"num_beams", 100000}},
           {{"max_length", 1}},
           {{"max_new_tokens", 0}},
           {{"temperature", 0}},
           {{"top_k", -1}},
           {{"top_p", 1.5}},
           {{"min_p", -0.1}},
           {{"repetition_penalty", 0}},
           {{"no_repeat_ngram_size", -1}},
           {{"renormalize_logits", 1}},
           {{"early_stopping", "always"}},
           {{"eos_token_id", 8001}},
           {{"eos_token_id", -1}},
           {{"eos_token_id", {0, "x"}}},
           {{"pad_token_id", 8001}},
           {{"forced_eos_token_id", {0, 1}}},
           {{"forced_bos_token_id", 9000}},
           {{"decoder_start_token_id", 8001}},
           {{"bad_words_ids", {{8001}}}},
           {{"bad_words_ids", {Json::array()}}},
           {{"bad_words_ids", {3}}},
           {{"num_return_sequences", 2}},
           {{"do_sample", "yes"}},
           {{"length_penalty", "x"}},
       }) {
    const auto params = Load(keys);
    EXPECT_TRUE(absl::IsInvalidArgument(params.status())) << keys;
    EXPECT_THAT(params.status().message(),
                AllOf(HasSubstr("generation_config.json"),
                      HasSubstr(keys.items().begin().key() + " is ")));
  }
  EXPECT_THAT(Load({{"do_sample", true}, {"num_beams", 2}}).status().message(),
              HasSubstr("num_beams is 2"));
}

TEST_F(GenerationConfigTest, NeutralValuesOfUnsupportedFieldsPass) {
  const auto params = Load({{"num_beam_groups", 1},
                            {"penalty_alpha", nullptr},
                            {"typical_p", 1.0},
                            {"suppress_tokens", Json::array()},
                            {"token_healing", false},
                            {"use_cache", true},
                            {"transformers_version", "4.40.0"}});
  EXPECT_TRUE(params.ok()) << params.status();
}

TEST_F(GenerationConfigTest, WithoutAStartThereIsNoGeneration) {
  std::ofstream(directory_ + "/generation_config.json") << "{}";
  EXPECT_THAT(
      LoadGenerationParams(directory_, Config(), spec_).status().message(),
      HasSubstr("decoder_start_token_id is missing"));
  std::ofstream(directory_ + "/generation_config.json")
      << R"({"bos_token_id": 3})";
  EXPECT_EQ(LoadGenerationParams(directory_, Config(), spec_)->decoder_start_id,
            3);
}

}  // namespace
}  // namespace attend
