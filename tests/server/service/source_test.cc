#include "server/service/source.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "server/service/request_fields.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_tokenizer.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SourceTest : public ::testing::Test {
 protected:
  absl::StatusOr<Source> Read(const std::string& text, bool truncate = false) {
    v1::Input input;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &input));
    return ReadSource(input, {.truncate = truncate}, model_, tokenizer_,
                      "inputs[3]");
  }

  ModelInfo model_ = FakeEngineOptions().info;
  FakeTokenizer tokenizer_;
};

TEST_F(SourceTest, TextGetsSpecialTokensAndIdsDoNot) {
  EXPECT_THAT(Read("text: 'ab'")->tokens.ids, ElementsAre(98, 99, 0));
  EXPECT_THAT(Read("tokens { ids: 7 ids: 8 }")->tokens.ids, ElementsAre(7, 8));
}

TEST_F(SourceTest, MaskedTokensGoAndTheOthersKeepTheirPlaces) {
  const auto source =
      Read("tokens { ids: [5, 6, 7, 8, 9] attention_mask: [0, 1, 0, 1, 1] }");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT(source->tokens.ids, ElementsAre(6, 8, 9));
  EXPECT_THAT(source->tokens.positions, ElementsAre(1, 3, 4));
  EXPECT_FALSE(source->empty);
}

TEST_F(SourceTest, WhatIsContinuedHasNoMask) {
  model_.continues_source = true;
  model_.name = "m";
  EXPECT_EQ(
      Read("tokens { ids: [5, 6] attention_mask: [1, 0] }").status().message(),
      "inputs[3].tokens.attention_mask is set, but model 'm' continues "
      "its tokens: leave out the masked ones");
}

TEST_F(SourceTest, SourceWithoutATokenIsEmpty) {
  EXPECT_TRUE(Read("text: ''")->empty);
  EXPECT_TRUE(Read("tokens {}")->empty);
  EXPECT_TRUE(Read("tokens { ids: [5, 6] attention_mask: [0, 0] }")->empty);
  EXPECT_FALSE(Read("text: 'a'")->empty);
}

TEST_F(SourceTest, TruncationKeepsTheFinalSpecialTokens) {
  model_.max_source_tokens = 3;
  const auto text = Read("text: 'abcd'", true);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(text->tokens.ids, ElementsAre(98, 99, 0));
  EXPECT_TRUE(text->truncated);
  EXPECT_THAT(Read("tokens { ids: [5, 6, 7, 8] }", true)->tokens.ids,
              ElementsAre(5, 6, 7));
  const auto masked = Read(
      "tokens { ids: [5, 6, 7, 8, 0] attention_mask: [1, 0, 1, 1, 1] }", true);
  EXPECT_THAT(masked->tokens.ids, ElementsAre(5, 7, 0));
  EXPECT_THAT(masked->tokens.positions, ElementsAre(0, 2, 3));
  EXPECT_FALSE(Read("text: 'ab'", true)->truncated);
}

TEST_F(SourceTest, ATextOfTooManyBytesIsNotTokenised) {
  model_.max_source_tokens = 3;
  const std::string text = absl::StrCat("text: '", std::string(70000, 'a'));
  EXPECT_EQ(Read(text + "'").status().message(),
            "inputs[3].text has 70000 bytes, limit is 65536 (for 3 tokens)");
  // What no tokenizer takes is beyond what is read.
  const auto cut = Read(text + "\\001'", true);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_THAT(cut->tokens.ids, ElementsAre(98, 98, 0));
  EXPECT_TRUE(cut->truncated);
}

TEST_F(SourceTest, AnInputThatHasEndedIsNotTokenised) {
  class Ended final : public CallContext {
   public:
    Ended(const Lifecycle& lifecycle, const Clock& clock)
        : CallContext(lifecycle, clock) {
      cancelled_ = true;
    }
    void WakeAfterStep() override {}
  };
  const Lifecycle lifecycle;
  const SteadyClock clock;
  Ended ended(lifecycle, clock);
  v1::Input input;
  input.set_text("\001");
  EXPECT_TRUE(absl::IsCancelled(
      ReadSource(input, {.call = &ended}, model_, tokenizer_, "inputs[3]")
          .status()));
}

TEST_F(SourceTest, AWrongInputIsNamedWithItsValue) {
  model_.source_vocab = 300;
  model_.max_source_tokens = 3;
  const struct {
    const char* input;
    const char* message;
  } cases[] = {
      {"", "inputs[3] is not set"},
      {"text: '\\001'", "inputs[3].text: text has 0x01"},
      {"text: 'abc'", "inputs[3] has 4 tokens, limit is 3"},
      {"tokens { ids: [1, 300] }", "inputs[3].tokens.ids[1] is 300"},
      {"tokens { ids: -1 }", "inputs[3].tokens.ids[0] is -1"},
      {"tokens { ids: [1, 2] attention_mask: 1 }",
       "inputs[3].tokens.attention_mask has 1 values"},
      {"tokens { ids: 1 attention_mask: 2 }",
       "inputs[3].tokens.attention_mask[0] is 2"},
      {"tokens { ids: [1, 2, 3, 4] }", "inputs[3] has 4 tokens"},
  };
  for (const auto& c : cases) {
    const auto source = Read(c.input);
    ASSERT_FALSE(source.ok()) << c.input;
    EXPECT_EQ(source.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(source.status().message(), HasSubstr(c.message));
  }
}

TEST_F(SourceTest, TargetsOfAScore) {
  v1::Input input;
  EXPECT_THAT(
      ReadTarget(input, "", model_, tokenizer_, "target").status().message(),
      HasSubstr("target is not set"));
  input.set_text("a");
  EXPECT_THAT(*ReadTarget(input, "", model_, tokenizer_, "target"),
              ElementsAre(98, 0));
  input.mutable_tokens()->add_ids(4);
  EXPECT_THAT(*ReadTarget(input, "", model_, tokenizer_, "target"),
              ElementsAre(4));
}

}  // namespace
}  // namespace attend
