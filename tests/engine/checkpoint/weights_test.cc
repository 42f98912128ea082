#include "engine/checkpoint/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class WeightsTest : public testing::Test {
 protected:
  WeightsTest() {
    directory_.Write(
        "model.safetensors",
        Safetensors(
            R"({"l.3.w":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},)"
            R"("shared":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]}})",
            std::string("\x80\x3f\x00\x40\x00\x00", 6)));
    checkpoint_ =
        std::make_unique<Checkpoint>(*Checkpoint::Open(directory_.path()));
    names_.rows = {{"layer.{}.weight", {"l.{}.w"}},
                   {"head", {"lm_head", "shared"}},
                   {"bias", {"b"}, /*zero_if_missing=*/true}};
  }
  TestDirectory directory_;
  std::unique_ptr<Checkpoint> checkpoint_;
  NameTable names_;
};

TEST_F(WeightsTest, FindsSlotsByTheTable) {
  Weights weights(*checkpoint_, names_);
  EXPECT_TRUE(weights.Has("layer.3.weight"));
  EXPECT_FALSE(weights.Has("layer.4.weight"));
  EXPECT_TRUE(weights.Has("head"));
  EXPECT_FALSE(weights.Has("bias"));
  EXPECT_FALSE(weights.Has("nothing"));
  const auto values = weights.Read("layer.3.weight", {1, 2});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0], 1.0f);
  EXPECT_EQ((*values)[1], 2.0f);
}

TEST_F(WeightsTest, ARowIsAVector) {
  Weights weights(*checkpoint_, names_);
  EXPECT_TRUE(weights.Read("layer.3.weight", {2}).ok());
}

TEST_F(WeightsTest, ATensorMayHoldSeveralSlots) {
  directory_.Write(
      "model.safetensors",
      Safetensors(
          R"({"qk":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},)"
          R"("qk.b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]}})",
          std::string("\x80\x3f\x00\x40\x40\x40\x80\x40", 8)));
  const auto checkpoint = Checkpoint::Open(directory_.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  names_.rows = {{"q", {"qk"}, false, 0, 2},
                 {"k", {"qk"}, false, 1, 2},
                 {"k.b", {"qk.b"}, false, 1, 2}};
  Weights weights(*checkpoint, names_);
  EXPECT_EQ((*weights.Read("q", {1, 1}))[0], 1.0f);
  const auto k = weights.Read("k", {1, 1});
  EXPECT_EQ(k->size(), 1u);
  EXPECT_EQ((*k)[0], 2.0f);
  EXPECT_EQ((*weights.Read("k.b", {1}))[0], 4.0f);
  EXPECT_THAT(weights.Read("k", {2, 1}).status().message(),
              HasSubstr("has shape [2, 1], expected [4, 1] (k)"));
}

TEST_F(WeightsTest, MissingBiasIsZero) {
  Weights weights(*checkpoint_, names_);
  const auto bias = weights.Read("bias", {3});
  ASSERT_TRUE(bias.ok()) << bias.status();
  EXPECT_EQ(bias->size(), 3u);
  EXPECT_EQ((*bias)[2], 0.0f);
}

TEST_F(WeightsTest, ErrorsNameSlotTensorAndShapes) {
  Weights weights(*checkpoint_, names_);
  EXPECT_THAT(weights.Read("layer.4.weight", {1, 2}).status().message(),
              AllOf(HasSubstr("no tensor l.4.w"), HasSubstr("layer.4.weight"),
                    HasSubstr("[1, 2]")));
  // The expected size must not be allocated before the shape is compared.
  EXPECT_THAT(
      weights.Read("head", {1 << 20, 1 << 20, 1 << 10}).status().message(),
      AllOf(HasSubstr("model.safetensors"), HasSubstr("tensor shared"),
            HasSubstr("[1]"), HasSubstr("[1048576, 1048576, 1024]"),
            HasSubstr("(head)")));
  EXPECT_TRUE(absl::IsInternal(weights.Read("nothing", {1}).status()));
}

TEST_F(WeightsTest, ATensorThatNobodyReadIsNamed) {
  Weights weights(*checkpoint_, names_);
  ASSERT_TRUE(weights.Read("head", {1}).ok());
  EXPECT_THAT(weights.CheckAllRead().message(), HasSubstr("tensor l.3.w"));
  ASSERT_TRUE(weights.Read("layer.3.weight", {2}).ok());
  EXPECT_TRUE(weights.CheckAllRead().ok());

  names_.unused = {"l.{}.w", "shared"};
  EXPECT_TRUE(Weights(*checkpoint_, names_).CheckAllRead().ok());
  names_.unused = {"l.{}.x", "l.3"};
  EXPECT_FALSE(Weights(*checkpoint_, names_).CheckAllRead().ok());
}

}  // namespace
}  // namespace attend
