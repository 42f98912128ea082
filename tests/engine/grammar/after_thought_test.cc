#include "engine/grammar/after_thought.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/grammar/grammar_compiler.h"
#include "tests/engine/grammar/piece_tokenizer.h"

namespace attend {
namespace {

// All bytes, then tokens of several.
const PieceTokenizer& ThoughtPieces() {
  static const auto& tokenizer = *new PieceTokenizer([] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte) {
      texts.push_back(std::string(1, static_cast<char>(byte)));
    }
    for (const char* text : {"</think>", ">\n\n", ">{", "</think>{", "",
                             "<think>", "\n<", "think>Well"}) {
      texts.push_back(text);
    }
    return texts;
  }());
  return tokenizer;
}
constexpr int kThoughtVocab = 264;
constexpr int kClose = 256, kCloseLines = 257, kCloseAnswer = 258,
              kWholeAnswer = 259, kSpecial = 260, kOpen = 261, kLineOpen = 262,
              kRestOpen = 263;

class AfterThoughtTest : public testing::Test {
 protected:
  void Begin(bool open, std::vector<Thought::Special> specials = {}) {
    auto inner = compiler_.Compile({GrammarKind::kRegex, "\\{b+\\}"});
    ASSERT_TRUE(inner.ok()) << inner.status();
    const Thought thought = {.begin = "<think>",
                             .end = "</think>",
                             .open = open,
                             .specials = std::move(specials)};
    constraint_ = compiler_.SkipThought(*inner, thought);
    state_ = constraint_->Begin();
  }
  bool Allows(int id) {
    std::vector<uint32_t> mask(MaskWords(kThoughtVocab));
    const auto can_end = state_->Mask(absl::MakeSpan(mask));
    EXPECT_TRUE(can_end.ok()) << can_end.status();
    can_end_ = can_end.ok() && *can_end;
    return (mask[id / 32] >> (id % 32) & 1) != 0;
  }
  // Appends ids that have to be allowed.
  void Take(const std::vector<int>& ids) {
    for (const int id : ids) {
      ASSERT_TRUE(Allows(id)) << id;
      ASSERT_TRUE(state_->Append(id).ok()) << id;
    }
  }
  void Take(const char* text) {
    for (; *text != '\0'; ++text) Take(std::vector<int>{*text});
  }

  const GrammarCompiler compiler_{ThoughtPieces(), kThoughtVocab,
                                  /*begins_text=*/false};
  std::shared_ptr<const Constraint> constraint_;
  std::unique_ptr<ConstraintState> state_;
  bool can_end_ = false;
};

TEST_F(AfterThoughtTest, AllIsAllowedInsideOfAnOpenThought) {
  Begin(/*open=*/true);
  Take("{x} <think> </thin");
  EXPECT_TRUE(Allows('x'));
  EXPECT_FALSE(can_end_);
  Take("k");
  EXPECT_TRUE(Allows(kCloseLines));
  EXPECT_FALSE(Allows(kCloseAnswer));  // it would answer without the constraint
  EXPECT_FALSE(Allows(kSpecial));
  Take({kCloseLines});
  EXPECT_FALSE(Allows('x'));
  EXPECT_FALSE(Allows('\n'));
  Take("{bb}");
  EXPECT_FALSE(Allows('x'));
  EXPECT_TRUE(can_end_);
}

TEST_F(AfterThoughtTest, ATokenThatClosesTheThoughtAddsNothing) {
  Begin(/*open=*/true);
  Take("a");
  EXPECT_TRUE(Allows(kClose));
  EXPECT_FALSE(Allows(kWholeAnswer));
  Take({kClose});
  EXPECT_TRUE(Allows('{'));
  EXPECT_FALSE(Allows(kClose));
}

// As [THINK] of Magistral: the tokens have no text.
TEST_F(AfterThoughtTest, MarksMayBeSpecialTokens) {
  Begin(/*open=*/true, {{kSpecial, "</think>"}});
  Take("a");
  EXPECT_TRUE(state_->Ending(9).has_value());
  Take({kSpecial});
  EXPECT_FALSE(Allows(kSpecial));
  Take("{b}");
  EXPECT_FALSE(Allows('x'));
  EXPECT_TRUE(can_end_);

  Begin(/*open=*/false, {{kSpecial, "<think>"}});
  EXPECT_TRUE(Allows('{'));
  Take({kSpecial});
  EXPECT_FALSE(Allows(kSpecial));
  Take("x");
  Take({kClose});
  Take("{b}");
}

TEST_F(AfterThoughtTest, TheModelMayOpenTheThoughtOrAnswer) {
  Begin(/*open=*/false);
  EXPECT_TRUE(Allows('{'));
  EXPECT_TRUE(Allows('<'));
  EXPECT_TRUE(Allows('\n'));
  EXPECT_FALSE(Allows('x'));
  Take("{");
  EXPECT_FALSE(Allows('<'));
  Take("b}");

  Begin(/*open=*/false);
  Take({kLineOpen, kRestOpen});
  EXPECT_TRUE(Allows('{'));
  EXPECT_TRUE(Allows('!'));
  Take({kClose});
  Take("{b}");

  Begin(/*open=*/false);
  Take({kOpen});
  const auto copy = state_->Copy();
  Take("x");
  Take({kClose});
  Take("{");
  state_ = copy->Copy();
  EXPECT_TRUE(Allows('y'));
}

// What LimitedText does where a text has to end soon.
TEST_F(AfterThoughtTest, AThoughtIsEndedWithItsAnswer) {
  Begin(/*open=*/true);
  Take("Let me");
  EXPECT_EQ(state_->Ending(10), (std::vector<int>{kClose, '{', 'b', '}'}));
  Take("<");
  EXPECT_EQ(state_->Ending(10), std::nullopt);
  Begin(/*open=*/false);
  EXPECT_EQ(state_->Ending(10), (std::vector<int>{'{', 'b', '}'}));
}

}  // namespace
}  // namespace attend
