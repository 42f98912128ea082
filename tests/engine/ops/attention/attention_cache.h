#ifndef ATTEND_TESTS_ENGINE_OPS_ATTENTION_ATTENTION_CACHE_H_
#define ATTEND_TESTS_ENGINE_OPS_ATTENTION_ATTENTION_CACHE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/tensor/buffer.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {

// Blocks of hypotheses in a scattered order. They are filled with NaN, so that
// a read of memory that was not written shows.
class Blocks {
 public:
  Blocks(const KvLayout& layout, int count);
  std::vector<std::byte*> Take(int tokens);

 private:
  Buffer<float> memory_;
  std::vector<std::byte*> free_;
};

// The keys and values of `in` in layer 1 of a pool of 2 layers. Each input of
// the batch is a sequence. `kept`: the tokens of each input that are stored.
// The layout is a decoder's; `together`: that with the most numbers together.
class Cache {
 public:
  Cache(Compute& compute, const AttentionInputs& in,
        const std::vector<std::vector<int>>& kept, KvType dtype = KvType::kF32,
        bool together = false);
  const KvLayout& layout() const { return layout_; }
  absl::Span<std::byte* const> blocks(int b) const { return blocks_[b]; }

 private:
  const KvLayout layout_;
  Blocks pool_;
  std::vector<std::vector<std::byte*>> blocks_;
};

// 0, 1, ... n - 1.
std::vector<int> FirstTokens(int n);

// The result of Attention(); rows that no piece computes are zeros. Of `scores`
// only biases, cap and window are used.
std::vector<float> Attend(Compute& compute, const AttentionInputs& in,
                          const Cache& cache,
                          const std::vector<AttentionPiece>& pieces,
                          const AttentionRules& scores);
std::vector<float> Attend(Compute& compute, const AttentionInputs& in,
                          const Cache& cache,
                          const std::vector<AttentionPiece>& pieces,
                          const DistanceBias& bias = {}, int window = 0);

// A test for each instruction set that this machine has.
class AttentionIsaTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > DetectIsa()) GTEST_SKIP() << "not on this machine";
  }
  std::unique_ptr<Compute> MakeCompute(int threads = 1) const;
};

inline const auto kAttentionIsas = ::testing::Values(
    Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kAmx);
std::string NameOfIsa(const ::testing::TestParamInfo<Isa>& isa);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_ATTENTION_ATTENTION_CACHE_H_
