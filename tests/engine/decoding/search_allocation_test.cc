#include <string>
#include <vector>

#include "engine/decoding/scorer.h"
#include "engine/decoding/search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"
#include "tests/support/allocation_count.h"

namespace attend {
namespace {

constexpr int kVocab = 50;

long AllocationsOfAdvance(const GenerationParams& params) {
  const FakeModel model(kVocab, 3, 1);
  VocabularyTexts texts;
  for (int id = 0; id < kVocab; ++id) texts.plain.Add("ab");
  const auto search = MakeSearch({params, PromptOf(params), kVocab, &texts});
  long counted = 0;
  while (search->rows() > 0) {
    std::vector<std::vector<float>> rows;
    std::vector<LogitsView> views;
    for (int row = 0; row < search->rows(); ++row) {
      rows.push_back(model.Logits(search->tokens(row)));
    }
    for (const std::vector<float>& row : rows) views.emplace_back(row);
    AllocationCount::Start();
    search->Advance(views);
    counted += AllocationCount::Stop().ours;
  }
  return counted;
}

TEST(SearchAllocationTest, AdvanceAllocatesNothing) {
  for (int bits = 0; bits < 64; ++bits) {
    GenerationParams params;
    params.max_new_tokens = 40;
    params.min_new_tokens = 20;
    params.eos_ids = {2};
    params.forced_prefix = {5, 6};
    params.num_return_sequences = 3;
    params.do_sample = bits & 1;
    if (!params.do_sample) params.num_beams = 4;
    params.top_k = bits & 2 ? 5 : 0;
    params.top_p = 0.9;
    if (bits & 4) {
      params.repetition_penalty = 1.2;
      params.frequency_penalty = 0.1;
      params.no_repeat_ngram_size = 2;
      params.bad_words = {{1}, {3, 4}};
    }
    if (bits & 8) params.top_log_probs = 4;
    if (bits & 16) params.stop_strings = {"no such text", "q"};
    if (bits & 32) params.renormalize_logits = true;
    EXPECT_EQ(AllocationsOfAdvance(params), 0) << bits;
  }
  GenerationParams forced;
  forced.max_new_tokens = 40;
  forced.num_beams = forced.num_return_sequences = 4;
  forced.force_words = {{{5, 6, 7}, {5, 8}}, {{9}}, {{10, 11}}};
  EXPECT_EQ(AllocationsOfAdvance(forced), 0);
  GenerationParams greedy;
  greedy.max_new_tokens = 40;
  EXPECT_EQ(AllocationsOfAdvance(greedy), 0);
}

TEST(SearchAllocationTest, ScorerAllocatesNothing) {
  const std::vector<float> logits(kVocab, 1);
  const std::vector<LogitsView> views(8, LogitsView(logits));
  Scorer scorer(std::vector<int>(8, 3), 5);
  AllocationCount::Start();
  scorer.Advance(views);
  EXPECT_EQ(AllocationCount::Stop().ours, 0);
}

}  // namespace
}  // namespace attend
