// What searches ask of the logits; that they ask for enough is tested by
// FakeModel::Step(), which answers nothing else.

#include <memory>
#include <string>
#include <vector>

#include "engine/decoding/scorer.h"
#include "engine/decoding/search.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"

namespace attend {
namespace {

constexpr int kVocab = 1000;

class Searching {
 public:
  explicit Searching(const GenerationParams& params)
      : search_(MakeSearch({params, PromptOf(params), kVocab})) {}

  LogitsNeed Need() const { return search_->needs()[0]; }
  void Step() { model_.Step(*search_); }
  Search& search() { return *search_; }

 private:
  const FakeModel model_{kVocab, 7};
  std::unique_ptr<Search> search_;
};

GenerationParams Greedy() {
  GenerationParams params;
  params.max_new_tokens = 6;
  params.eos_ids = {2, 3};
  return params;
}

void ExpectNeed(const LogitsNeed& found, const LogitsNeed& expected) {
  EXPECT_EQ(found.top, expected.top);
  EXPECT_EQ(found.tie_margin, expected.tie_margin);
  EXPECT_EQ(found.log_sum_exp, expected.log_sum_exp);
  EXPECT_EQ(found.row, expected.row);
}

TEST(NeedsTest, GreedyAsksForTheBestAndForAsManyAsAreBanned) {
  ExpectNeed(Searching(Greedy()).Need(), {.top = 1});
  GenerationParams params = Greedy();
  params.min_new_tokens = 1;
  Searching searching(params);
  ExpectNeed(searching.Need(), {.top = 3});
  searching.Step();
  ExpectNeed(searching.Need(), {.top = 1});
  params.log_probs = true;
  ExpectNeed(Searching(params).Need(),
             {.top = 3, .log_sum_exp = true, .row = true});
  params.min_new_tokens = 0;
  params.top_log_probs = 5;
  ExpectNeed(Searching(params).Need(), {.top = 5, .log_sum_exp = true});
}

TEST(NeedsTest, PenaltiesNeedTheScoresOfWhatIsThere) {
  GenerationParams params = Greedy();
  params.frequency_penalty = 0.5;
  Searching searching(params);
  ExpectNeed(searching.Need(), {.top = 1});
  searching.Step();
  ExpectNeed(searching.Need(), {.top = 2, .row = true});
}

TEST(NeedsTest, AForcedTokenNeedsNothing) {
  GenerationParams params = Greedy();
  params.forced_bos_id = 9;
  Searching searching(params);
  ExpectNeed(searching.Need(), {});
  searching.Step();
  ExpectNeed(searching.Need(), {.top = 1});
  params.log_probs = true;
  ExpectNeed(Searching(params).Need(), {.log_sum_exp = true, .row = true});
}

TEST(NeedsTest, BeamsAskForTheirCandidates) {
  GenerationParams params = Greedy();
  params.num_beams = 4;
  Searching searching(params);
  EXPECT_EQ(searching.search().needs().size(), 1u);
  ExpectNeed(searching.Need(), {.top = 12, .log_sum_exp = true});
  searching.Step();
  EXPECT_EQ(searching.search().needs().size(), 4u);
  ExpectNeed(searching.Need(), {.top = 12, .log_sum_exp = true});
  params.min_new_tokens = 2;
  ExpectNeed(Searching(params).Need(), {.top = 14, .log_sum_exp = true});
  params.renormalize_logits = true;
  ExpectNeed(Searching(params).Need(),
             {.top = 14, .log_sum_exp = true, .row = true});
}

TEST(NeedsTest, SamplingAsksForItsListOrTheRow) {
  GenerationParams params = Greedy();
  params.do_sample = true;
  params.top_k = 50;
  ExpectNeed(Searching(params).Need(), {.top = 58, .tie_margin = 8});
  params.top_k = kVocab - 3;
  ExpectNeed(Searching(params).Need(), {.top = kVocab, .tie_margin = 3});
  params.top_k = 0;
  EXPECT_TRUE(Searching(params).Need().row);
  params.top_k = 50;
  params.min_new_tokens = 1;
  EXPECT_TRUE(Searching(params).Need().row);
}

TEST(NeedsTest, AFinishedSearchAsksForNothing) {
  GenerationParams params = Greedy();
  params.max_new_tokens = 1;
  Searching searching(params);
  searching.Step();
  EXPECT_EQ(searching.search().rows(), 0);
  EXPECT_TRUE(searching.search().needs().empty());
}

TEST(NeedsTest, AScorerNeedsAnyToken) {
  ExpectNeed(Scorer({4, 5}, 3).need(),
             {.top = 3, .log_sum_exp = true, .row = true});
}

}  // namespace
}  // namespace attend
