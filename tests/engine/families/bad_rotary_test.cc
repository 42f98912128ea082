// Rotary settings that depend on a sequence's length: what they become, and
// what no file can have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/families/load_family.h"
#include "tests/engine/families/config.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// phi3-4x-longrope with some keys of "rope_scaling" changed (null: removed).
absl::StatusOr<Family> Long(const Json& changes, Json config = Json::object()) {
  Json rope = {{"type", "longrope"},
               {"short_factor", {1.0, 1.25, 2.0}},
               {"long_factor", {2.0, 4.0, 8.0}}};
  rope.update(changes);
  config["rope_scaling"] = rope;
  return LoadFamily(FixtureConfig("phi3-4x-longrope", config));
}

absl::StatusOr<Family> Dynamic(const Json& changes,
                               Json config = Json::object()) {
  Json rope = {{"rope_type", "dynamic"}, {"factor", 3.5}};
  rope.update(changes);
  config["rope_scaling"] = rope;
  return LoadFamily(FixtureConfig("llama-4x-dynamic-rope", config));
}

RotarySpec RotaryOf(const absl::StatusOr<Family>& family) {
  EXPECT_TRUE(family.ok()) << family.status();
  return *family->spec.decoder->layers[0].self_attention.rotary;
}

std::string ErrorOf(const absl::StatusOr<Family>& family) {
  EXPECT_TRUE(absl::IsInvalidArgument(family.status()));
  return std::string(family.status().message());
}

TEST(LongRopeTest, EachFrequencyHasTwoDivisors) {
  // theta 500, 6 of 10 numbers.
  const RotarySpec plain = RotaryOf(Long({{"type", "default"}}));
  const RotarySpec spec = RotaryOf(Long(Json::object()));
  ASSERT_EQ(spec.frequencies.size(), 3u);
  ASSERT_EQ(spec.long_frequencies.size(), 3u);
  EXPECT_TRUE(spec.by_length());
  EXPECT_TRUE(spec.uses_current_length());
  EXPECT_EQ(spec.original_positions, 42);
  EXPECT_THAT(spec.frequencies[1], FloatEq(plain.frequencies[1] / 1.25f));
  EXPECT_THAT(spec.long_frequencies[2], FloatEq(plain.frequencies[2] / 8));
  // sqrt(1 + ln(96 / 42) / ln(42))
  EXPECT_THAT(spec.magnitude, FloatEq(1.1050678f));
  EXPECT_EQ(RotaryOf(Long({{"type", "su"}})), spec);
  EXPECT_EQ(RotaryOf(Long({{"attention_factor", 0.5}})).magnitude, 0.5f);
  EXPECT_EQ(RotaryOf(Long({{"factor", 1}})).magnitude, 1);
}

TEST(LongRopeTest, TheOriginalLengthIsTheModels) {
  // Of Phi-3 it is 4096 where the file does not say, whatever stands inside.
  const Json none = {{"original_max_position_embeddings", nullptr}};
  EXPECT_EQ(RotaryOf(Long({{"original_max_position_embeddings", 50}}, none))
                .original_positions,
            4096);
  EXPECT_EQ(RotaryOf(Long({{"original_max_position_embeddings", 50}}))
                .original_positions,
            42);
}

TEST(LongRopeTest, WhatNoFileCanHaveIsNamed) {
  const Json few = {1.0, 2.0};
  for (const char* key : {"short_factor", "long_factor"}) {
    for (const Json& value :
         {Json(), Json::array(), few, Json({1.0, 2.0, 3.0, 4.0}),
          Json({1.0, 0.0, 1.0}), Json({1.0, -2.0, 1.0}), Json({1.0, 1e30, 1.0}),
          Json({1.0, nullptr, 1.0}), Json({1.0, "2", 1.0}), Json(2.0),
          Json("x")}) {
      EXPECT_THAT(
          ErrorOf(Long({{key, value}})),
          AllOf(HasSubstr("config.json: rope_scaling: "),
                HasSubstr(std::string(key) + " is "),
                HasSubstr("expected a list of 3 numbers in [0.001, 1e+06]")))
          << value;
    }
  }
  EXPECT_THAT(ErrorOf(Long({{"factor", 0.5}})), HasSubstr("factor is 0.5"));
  EXPECT_THAT(ErrorOf(Long({{"attention_factor", 0}})),
              HasSubstr("attention_factor is 0"));
  EXPECT_THAT(
      ErrorOf(Long(Json::object(), {{"original_max_position_embeddings", 1}})),
      HasSubstr("original_max_position_embeddings is 1"));
}

TEST(LongRopeTest, OnlyPhi3ComputesASequenceAgain) {
  EXPECT_TRUE(RotaryOf(Long(Json::object())).recomputes);
  const RotarySpec llama =
      RotaryOf(Dynamic({{"rope_type", "longrope"},
                        {"short_factor", {1.0, 1.0, 1.25, 1.5, 2.0, 2.0, 2.0}},
                        {"long_factor", {2.0, 3.0, 4.0, 5.0, 8.0, 8.0, 9.0}},
                        {"original_max_position_embeddings", 20}}));
  EXPECT_FALSE(llama.recomputes);
  EXPECT_EQ(llama.original_positions, 20);
}

TEST(PartialRotaryTest, IsIgnoredWhereTransformersDoes) {
  const RotarySpec whole =
      RotaryOf(LoadFamily(FixtureConfig("mistral-4x-window")));
  EXPECT_EQ(RotaryOf(LoadFamily(FixtureConfig(
                "mistral-4x-window", {{"partial_rotary_factor", 0.5}}))),
            whole);
  // It cannot rotate a whole head by the angles of a part.
  EXPECT_THAT(ErrorOf(Dynamic({{"partial_rotary_factor", 0.5}})),
              HasSubstr("partial_rotary_factor is 0.5"));
}

TEST(DynamicRopeTest, StretchesTheLengthOfTheFile) {
  const auto family = Dynamic(Json::object());
  const RotarySpec spec = RotaryOf(family);
  EXPECT_TRUE(spec.by_length());
  EXPECT_FALSE(spec.uses_current_length());
  EXPECT_EQ(spec.original_positions, 40);
  EXPECT_EQ(spec.theta, 300);
  EXPECT_EQ(spec.factor, 3.5f);
  EXPECT_EQ(family->spec.decoder->embedding.max_positions, 140);
  EXPECT_EQ(spec.frequencies,
            RotaryOf(Dynamic({{"rope_type", "default"}})).frequencies);
}

TEST(DynamicRopeTest, WhatNoFileCanHaveIsNamed) {
  for (const Json& value :
       {Json(), Json(0), Json(-1), Json(0.5), Json(1e30), Json("2")}) {
    EXPECT_THAT(ErrorOf(Dynamic({{"factor", value}})),
                AllOf(HasSubstr("rope_scaling"), HasSubstr("factor is "),
                      HasSubstr("expected a number in [1, 1e+06]")))
        << value;
  }
  EXPECT_THAT(
      ErrorOf(Dynamic({{"factor", 1e6}})),
      HasSubstr("max_position_embeddings times the factor of rope_type dynamic "
                "is 4e+07, limit is 16777216"));
  EXPECT_THAT(ErrorOf(Dynamic(Json::object(), {{"head_dim", 2}})),
              HasSubstr("2 of a head's numbers are rotated, expected 4 or more "
                        "with rope_type dynamic"));
}

}  // namespace
}  // namespace attend
