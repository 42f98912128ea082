// Counts what goes through operator new while searches run. Both the counter
// and the replaced operators are of this test binary.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "engine/decoding/scorer.h"
#include "engine/decoding/search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"

namespace {

std::atomic<int> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace attend {
namespace {

constexpr int kVocab = 50;

int AllocationsOfAdvance(const GenerationParams& params) {
  const FakeModel model(kVocab, 3, 1);
  const std::vector<std::string> texts(kVocab, "ab");
  const auto search = MakeSearch(params, kVocab, texts);
  int counted = 0;
  while (search->rows() > 0) {
    std::vector<std::vector<float>> rows;
    std::vector<LogitsView> views;
    for (int row = 0; row < search->rows(); ++row) {
      rows.push_back(model.Logits(search->tokens(row)));
    }
    for (const std::vector<float>& row : rows) views.emplace_back(row);
    const int before = allocations;
    search->Advance(views);
    counted += allocations - before;
  }
  return counted;
}

TEST(SearchAllocationTest, TheCounterCounts) {
  const int before = allocations;
  const std::vector<int> memory(1000);
  EXPECT_GT(allocations, before);
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
  GenerationParams greedy;
  greedy.max_new_tokens = 40;
  EXPECT_EQ(AllocationsOfAdvance(greedy), 0);
}

TEST(SearchAllocationTest, ScorerAllocatesNothing) {
  const std::vector<float> logits(kVocab, 1);
  const std::vector<LogitsView> views(8, LogitsView(logits));
  Scorer scorer(std::vector<int>(8, 3), 5);
  const int before = allocations;
  scorer.Advance(views);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace attend
