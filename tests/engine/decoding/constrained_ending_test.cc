// Texts under a constraint that a limit of tokens brings to their end.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "engine/decoding/search.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"
#include "tests/support/token_constraint.h"

namespace attend {
namespace {

constexpr int kVocab = 70;
constexpr int kEnd = 2;
constexpr int kOpen = 10;
constexpr int kClose = 11;

int Depth(const std::vector<int>& tokens) {
  return static_cast<int>(std::count(tokens.begin(), tokens.end(), kOpen) -
                          std::count(tokens.begin(), tokens.end(), kClose));
}

bool Whole(const std::vector<int>& tokens) {
  return !tokens.empty() && Depth(tokens) == 0;
}

// Brackets, and other tokens inside of them. `looks` counts the endings.
std::shared_ptr<const Constraint> Brackets(int& looks) {
  return std::make_shared<TokenConstraint>(TokenRules{
      .vocab = kVocab,
      .allows =
          [](const std::vector<int>& tokens, int id) {
            return id == kOpen || (id != kEnd && Depth(tokens) > 0);
          },
      .can_end = Whole,
      .ending = [&looks](const std::vector<int>& tokens,
                         size_t most) -> std::optional<std::vector<int>> {
        ++looks;
        std::vector<int> ending(Depth(tokens), kClose);
        if (tokens.empty()) ending = {kOpen, kClose};
        if (ending.size() > most) return std::nullopt;
        return ending;
      }});
}

GenerationParams BracketParams(int bits) {
  GenerationParams params;
  params.eos_ids = {kEnd};
  params.do_sample = bits % 3 == 1;
  params.num_beams = bits % 3 == 2 ? 3 : 1;
  params.num_return_sequences = bits % 3 == 0 ? 1 : 3;
  params.seed = bits;
  params.log_probs = true;
  params.forced_eos_id = bits % 4 == 3 ? kEnd : -1;
  // They open more than they close.
  params.sequence_bias = {{{kOpen}, 3}, {{kClose}, 2}};
  return params;
}

TEST(ConstrainedEndingTest, ALimitOfTokensBringsTextsToTheirEnd) {
  int looks = 0;
  int limited = 0;
  for (const int max_new_tokens : {3, 4, 9, 30, 100, 300}) {
    for (int bits = 0; bits < 24; ++bits) {
      GenerationParams params = BracketParams(bits);
      params.max_new_tokens = max_new_tokens;
      params.constraint = Brackets(looks);
      const FakeModel model(kVocab, 70 + bits);
      const auto search = MakeSearch({params, PromptOf(params), kVocab});
      looks = 0;
      while (search->rows() > 0) model.Step(*search);
      ASSERT_TRUE(search->status().ok()) << search->status();
      EXPECT_LT(looks, 70);
      for (const ChoiceOutput& choice : search->output().choices) {
        std::vector<int> text = choice.tokens;
        if (text.back() == kEnd) text.pop_back();
        EXPECT_TRUE(Whole(text)) << max_new_tokens << " " << bits;
        limited += choice.finish == FinishReason::kMaxLength;
        // A text that ends by itself says so.
        if (choice.tokens.size() < max_new_tokens / 2.0) {
          EXPECT_EQ(choice.finish, FinishReason::kEos);
        }
      }
    }
  }
  EXPECT_GT(limited, 100);
}

// Nothing else may follow an ending, so what could ban a part of it stands in
// its way.
TEST(ConstrainedEndingTest, WhereTokensMayBeBannedTheLimitCuts) {
  const FakeModel model(kVocab, 7);
  for (const int banned : {0, 1, 2, 3, 4}) {
    int looks = 0;
    GenerationParams params = BracketParams(0);
    params.max_new_tokens = 20;
    params.sequence_bias = {{{kOpen}, 30}};
    if (banned == 1) params.suppress_tokens = {kClose};
    if (banned == 2) params.bad_words = {{kClose, kClose}};
    if (banned == 3) params.min_new_tokens = 18;
    if (banned == 4) params.eos_ids.clear();
    params.constraint = Brackets(looks);
    const auto search = MakeSearch({params, PromptOf(params), kVocab});
    while (search->rows() > 0) model.Step(*search);
    ASSERT_TRUE(search->status().ok()) << search->status();
    const ChoiceOutput& choice = search->output().choices[0];
    EXPECT_EQ(choice.finish, FinishReason::kMaxLength);
    EXPECT_EQ(choice.tokens.back() == kEnd, banned == 0);
    EXPECT_EQ(looks > 0, banned == 0);
  }
}

}  // namespace
}  // namespace attend
