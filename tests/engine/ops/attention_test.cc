#include "engine/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/ops/mask.h"
#include "engine/tensor/buffer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int kTokens = KvLayout::kBlockTokens;

struct Shape {
  int heads = 1;
  int kv_heads = 1;
  int head_dim = 1;
  int queries = 1;
  int keys = 1;
};

std::vector<float> Random(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(n);
  for (float& x : values) x = normal(random);
  return values;
}

// Queries, keys and values of a batch of padded inputs, token by token.
struct Inputs {
  Inputs(const Shape& s, int batch, unsigned seed = 1)
      : shape(s),
        query(Random(
            static_cast<size_t>(batch) * s.queries * s.heads * s.head_dim,
            seed)),
        key(Random(
            static_cast<size_t>(batch) * s.keys * s.kv_heads * s.head_dim,
            seed + 1)),
        value(Random(
            static_cast<size_t>(batch) * s.keys * s.kv_heads * s.head_dim,
            seed + 2)) {}

  int query_cols() const { return shape.heads * shape.head_dim; }
  int kv_cols() const { return shape.kv_heads * shape.head_dim; }
  float scale() const { return 1 / std::sqrt(float(shape.head_dim)); }

  Shape shape;
  std::vector<float> query;  // [batch, queries, heads, head_dim]
  std::vector<float> key;    // [batch, keys, kv_heads, head_dim]
  std::vector<float> value;  // as key
};

// The paper's formula over all of [batch, heads, queries, keys], in doubles.
// Queries that see nothing give zeros.
std::vector<double> NaiveAttention(const Inputs& in,
                                   const AttentionMask& mask) {
  const Shape& s = in.shape;
  std::vector<double> dst(in.query.size(), 0.0);
  for (int b = 0; b < mask.batch; ++b)
    for (int h = 0; h < s.heads; ++h)
      for (int q = 0; q < s.queries; ++q) {
        const int kv_head = h / (s.heads / s.kv_heads);
        const size_t at =
            (size_t(b) * s.queries + q) * in.query_cols() + h * s.head_dim;
        const auto kv_at = [&](int k) {
          return (size_t(b) * s.keys + k) * in.kv_cols() + kv_head * s.head_dim;
        };
        std::vector<double> weights(s.keys, -kInf);
        double max = -kInf;
        for (int k = 0; k < s.keys; ++k) {
          if (!mask.Visible(b, q, k)) continue;
          double dot = 0;
          for (int d = 0; d < s.head_dim; ++d) {
            dot += double(in.query[at + d]) * in.key[kv_at(k) + d];
          }
          weights[k] = dot * in.scale();
          max = std::max(max, weights[k]);
        }
        if (max == -kInf) continue;
        double sum = 0;
        for (double& w : weights) sum += w = std::exp(w - max);
        for (int k = 0; k < s.keys; ++k)
          for (int d = 0; d < s.head_dim; ++d) {
            dst[at + d] += weights[k] / sum * in.value[kv_at(k) + d];
          }
      }
  return dst;
}

// What f32 may differ by: each score is off by the rounding of its dot product,
// which changes its weight by that factor, twice (sum); then the rounding of
// the weighted sum; all times the largest value.
double Tolerance(const Inputs& in) {
  const double eps = std::numeric_limits<float>::epsilon() / 2;
  const auto norm = [&](const std::vector<float>& rows) {
    double largest = 0;
    for (size_t i = 0; i + in.shape.head_dim <= rows.size();
         i += in.shape.head_dim) {
      double sum = 0;
      for (int d = 0; d < in.shape.head_dim; ++d) {
        sum += double(rows[i + d]) * rows[i + d];
      }
      largest = std::max(largest, std::sqrt(sum));
    }
    return largest;
  };
  double value = 0;
  for (float x : in.value) value = std::max(value, double(std::abs(x)));
  const double score = norm(in.query) * norm(in.key) * in.scale();
  return (2 * (in.shape.head_dim + 4) * score + in.shape.keys + 16) * eps *
         value;
}

// Blocks of hypotheses, poisoned with NaN and handed out in a scattered order:
// what is read without having been written shows.
class Blocks {
 public:
  Blocks(const KvLayout& layout, int count)
      : memory_(count * layout.block_bytes() / sizeof(float)) {
    std::fill(memory_.data(), memory_.data() + memory_.size(), std::nanf(""));
    for (int i = 0; i < count; ++i) {
      free_.push_back(reinterpret_cast<std::byte*>(memory_.data()) +
                      i * layout.block_bytes());
    }
    std::shuffle(free_.begin(), free_.end(), std::mt19937(7));
  }
  std::vector<std::byte*> Take(int tokens) {
    const int n = (tokens + kTokens - 1) / kTokens;
    std::vector<std::byte*> blocks(free_.end() - n, free_.end());
    free_.resize(free_.size() - n);
    return blocks;
  }

 private:
  Buffer<float> memory_;
  std::vector<std::byte*> free_;
};

// Layer 1 of 2 of a pool with the keys and values of `in`; one sequence an
// input of the batch. `kept` of input b are the tokens that are stored.
class Cache {
 public:
  Cache(Compute& compute, const Inputs& in,
        const std::vector<std::vector<int>>& kept)
      : layout_{.layers = 2,
                .kv_heads = in.shape.kv_heads,
                .head_dim = in.shape.head_dim},
        pool_(layout_, static_cast<int>(kept.size()) *
                           ((in.shape.keys + kTokens - 1) / kTokens)) {
    std::vector<float> keys, values;
    std::vector<KvWrite> writes;
    for (size_t b = 0; b < kept.size(); ++b) {
      blocks_.push_back(pool_.Take(static_cast<int>(kept[b].size())));
    }
    int row = 0;
    for (size_t b = 0; b < kept.size(); ++b) {
      for (int token : kept[b]) {
        const size_t at = (b * in.shape.keys + token) * in.kv_cols();
        keys.insert(keys.end(), &in.key[at], &in.key[at] + in.kv_cols());
        values.insert(values.end(), &in.value[at],
                      &in.value[at] + in.kv_cols());
      }
      const int rows = static_cast<int>(kept[b].size());
      // In two parts, the second not at a block's start.
      const int first = rows / 3;
      writes.push_back({row, first, blocks_[b], 0});
      writes.push_back({row + first, rows - first, blocks_[b], first});
      row += rows;
    }
    WriteKv(compute, {.layout = &layout_,
                      .layer = 1,
                      .key = keys.data(),
                      .value = values.data(),
                      .stride = in.kv_cols(),
                      .writes = writes});
  }
  const KvLayout& layout() const { return layout_; }
  absl::Span<std::byte* const> blocks(int b) const { return blocks_[b]; }

 private:
  const KvLayout layout_;
  Blocks pool_;
  std::vector<std::vector<std::byte*>> blocks_;
};

std::vector<int> FirstTokens(int n) {
  std::vector<int> tokens(n);
  for (int i = 0; i < n; ++i) tokens[i] = i;
  return tokens;
}

std::vector<float> Attend(Compute& compute, const Inputs& in,
                          const Cache& cache,
                          const std::vector<AttentionPiece>& pieces) {
  const int rows = static_cast<int>(in.query.size()) / in.query_cols();
  std::vector<float> dst(in.query.size(), 0.0f);
  Attention(compute, {.layout = &cache.layout(),
                      .layer = 1,
                      .heads = in.shape.heads,
                      .scale = in.scale(),
                      .query = in.query.data(),
                      .query_stride = in.query_cols(),
                      .pieces = pieces,
                      .dst = {dst.data(), rows, in.query_cols()}});
  return dst;
}

class AttentionTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > DetectIsa()) GTEST_SKIP() << "not on this machine";
  }
  std::unique_ptr<Compute> MakeCompute(int threads = 1) const {
    auto compute = std::make_unique<Compute>(
        ComputeOptions{.threads = threads, .max_isa = GetParam()});
    compute->ReserveScratch(AttentionScratchFloats(1024));
    return compute;
  }
};

INSTANTIATE_TEST_SUITE_P(AllIsas, AttentionTest,
                         ::testing::Values(Isa::kBaseline, Isa::kAvx2,
                                           Isa::kAvx512),
                         [](const auto& isa) {
                           return std::string(IsaName(isa.param));
                         });

void ExpectNear(const std::vector<float>& got,
                const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], tolerance) << "at " << i;
  }
}

TEST_P(AttentionTest, EqualsTheNaiveFormOverOddShapes) {
  const auto compute = MakeCompute();
  for (const Shape shape :
       {Shape{1, 1, 1, 1, 1}, Shape{1, 1, 64, 1, 16}, Shape{2, 2, 5, 3, 7},
        Shape{4, 2, 64, 8, 17}, Shape{4, 1, 33, 9, 48}, Shape{3, 3, 16, 13, 65},
        Shape{2, 1, 80, 7, 129}, Shape{8, 8, 63, 1, 500},
        Shape{2, 2, 128, 15, 100}}) {
    const Inputs in(shape, 1);
    const Cache cache(*compute, in, {FirstTokens(shape.keys)});
    const AttentionPiece piece{
        .rows = shape.queries, .blocks = cache.blocks(0), .keys = shape.keys};
    ExpectNear(Attend(*compute, in, cache, {piece}),
               NaiveAttention(
                   in, PaddingMask({shape.keys}, shape.queries, shape.keys)),
               Tolerance(in));
  }
}

TEST_P(AttentionTest, RaggedRowsEqualThePaddingMask) {
  const auto compute = MakeCompute();
  const std::vector<int> lengths = {1, 37, 16, 0, 29};
  const Inputs in({2, 2, 24, 37, 37}, 5);
  std::vector<std::vector<int>> kept;
  for (int length : lengths) kept.push_back(FirstTokens(length));
  const Cache cache(*compute, in, kept);
  std::vector<AttentionPiece> pieces;
  for (int b = 0; b < 5; ++b) {
    pieces.push_back({b * 37, 37, cache.blocks(b), lengths[b], false});
  }
  ExpectNear(Attend(*compute, in, cache, pieces),
             NaiveAttention(in, PaddingMask(lengths, 37, 37)), Tolerance(in));
}

TEST_P(AttentionTest, CausalPieceEqualsTheCausalMask) {
  const auto compute = MakeCompute();
  for (const Shape shape : {Shape{2, 1, 20, 45, 45}, Shape{2, 2, 64, 10, 40},
                            Shape{1, 1, 7, 1, 33}}) {
    const Inputs in(shape, 2);
    const Cache cache(*compute, in,
                      {FirstTokens(shape.keys), FirstTokens(shape.keys)});
    std::vector<AttentionPiece> pieces;
    for (int b = 0; b < 2; ++b) {
      pieces.push_back({b * shape.queries, shape.queries, cache.blocks(b),
                        shape.keys - shape.queries + 1, true});
    }
    ExpectNear(Attend(*compute, in, cache, pieces),
               NaiveAttention(in, CausalMask(2, shape.queries, shape.keys)),
               Tolerance(in));
  }
}

// Masked tokens leave the ragged rows; the others see what the padded
// computation sees.
TEST_P(AttentionTest, KeptTokensEqualTheCallersMask) {
  const auto compute = MakeCompute();
  constexpr int kWidth = 40;
  const Inputs in({2, 2, 12, kWidth, kWidth}, 2);
  std::vector<int32_t> mask(2 * kWidth);
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = (i * 7 % 5) > 1;
  std::vector<std::vector<int>> kept;
  for (int b = 0; b < 2; ++b) {
    kept.push_back(
        KeptPositions(absl::MakeSpan(mask).subspan(b * kWidth, kWidth), kWidth)
            .value());
  }
  const Cache cache(*compute, in, kept);
  std::vector<AttentionPiece> pieces;
  for (int b = 0; b < 2; ++b) {
    pieces.push_back({b * kWidth, kWidth, cache.blocks(b),
                      static_cast<int>(kept[b].size()), false});
  }
  ExpectNear(Attend(*compute, in, cache, pieces),
             NaiveAttention(in, TokenMask(mask, 2, kWidth)), Tolerance(in));
}

TEST_P(AttentionTest, CausalHolesEqualBothMasks) {
  const auto compute = MakeCompute();
  constexpr int kWidth = 21;
  const Inputs in({2, 1, 16, kWidth, kWidth}, 1);
  std::vector<int32_t> mask(kWidth);
  for (int i = 0; i < kWidth; ++i) mask[i] = i % 3 != 0;
  const std::vector<int> kept = KeptPositions(mask, kWidth).value();
  const Cache cache(*compute, in, {kept});
  std::vector<AttentionPiece> pieces;  // one a token: query i, keys kept <= i
  int keys = 0;
  for (int i = 0; i < kWidth; ++i) {
    keys += mask[i];
    pieces.push_back({i, 1, cache.blocks(0), keys, false});
  }
  ExpectNear(Attend(*compute, in, cache, pieces),
             NaiveAttention(in, Both(CausalMask(1, kWidth, kWidth),
                                     TokenMask(mask, 1, kWidth))),
             Tolerance(in));
}

TEST_P(AttentionTest, NoKeysGiveZeros) {
  const auto compute = MakeCompute();
  const Inputs in({2, 2, 9, 3, 4}, 1);
  const Cache cache(*compute, in, {FirstTokens(4)});
  const auto dst = Attend(*compute, in, cache, {{0, 3, {}, 0, false}});
  EXPECT_THAT(dst, ::testing::Each(0.0f));
  // Causal from nothing: only the first row sees nothing.
  const auto causal =
      Attend(*compute, in, cache, {{0, 3, cache.blocks(0), 0, true}});
  for (int i = 0; i < 18; ++i) EXPECT_EQ(causal[i], 0.0f);
  for (int i = 0; i < 18; ++i) EXPECT_EQ(causal[18 + i], in.value[i]);
}

// Row alone, in pairs, in any split of a prompt, in any order of pieces, for
// any team: the same bits.
TEST_P(AttentionTest, BitsDependOnTheRowOnly) {
  constexpr int kRows = 75;
  for (const bool causal : {false, true}) {
    const Inputs in({4, 2, 40, kRows, kRows}, 2);
    const auto compute = MakeCompute();
    const Cache cache(*compute, in, {FirstTokens(kRows), FirstTokens(kRows)});
    const int first_keys = causal ? 1 : kRows;
    std::vector<AttentionPiece> whole;
    for (int b = 0; b < 2; ++b) {
      whole.push_back({b * kRows, kRows, cache.blocks(b), first_keys, causal});
    }
    const std::vector<float> expected = Attend(*compute, in, cache, whole);
    for (int threads : {1, 2, 3}) {
      const auto team = MakeCompute(threads);
      for (int chunk : {1, 2, 3, 5, 8, 31, kRows}) {
        std::vector<AttentionPiece> pieces;
        for (int b = 1; b >= 0; --b) {
          for (int row = 0; row < kRows; row += chunk) {
            pieces.push_back({b * kRows + row, std::min(chunk, kRows - row),
                              cache.blocks(b), first_keys + (causal ? row : 0),
                              causal});
          }
        }
        const std::vector<float> got = Attend(*team, in, cache, pieces);
        ASSERT_EQ(std::memcmp(got.data(), expected.data(),
                              got.size() * sizeof(float)),
                  0)
            << "threads " << threads << " chunk " << chunk;
      }
    }
  }
}

TEST_P(AttentionTest, LaterKeysNeverTouchARow) {
  const auto compute = MakeCompute();
  Inputs in({1, 1, 16, 8, 8}, 1);
  std::fill(in.key.end() - 16, in.key.end(), kInf);
  std::fill(in.value.end() - 16, in.value.end(), kInf);
  const Cache cache(*compute, in, {FirstTokens(8)});
  const auto dst =
      Attend(*compute, in, cache, {{0, 8, cache.blocks(0), 1, true}});
  for (int i = 0; i < 7 * 16; ++i) ASSERT_TRUE(std::isfinite(dst[i])) << i;
}

TEST_P(AttentionTest, HugeScoresAreNeverNan) {
  const auto compute = MakeCompute();
  for (float huge : {1e18f, 3e38f, kInf}) {
    Inputs in({1, 1, 16, 9, 20}, 1);
    for (float& x : in.query) x *= huge;
    for (float& x : in.key) x *= huge;
    const Cache cache(*compute, in, {FirstTokens(20)});
    const auto dst =
        Attend(*compute, in, cache, {{0, 9, cache.blocks(0), 20, false}});
    for (float x : dst) {
      ASSERT_TRUE(std::isfinite(x));
      // An average of the values.
      ASSERT_LE(std::abs(x),
                *std::max_element(in.value.begin(), in.value.end()) + 3);
    }
  }
}

TEST_P(AttentionTest, AllScoresMinusInfinityWeighTheSame) {
  const auto compute = MakeCompute();
  Inputs in({1, 1, 4, 1, 3}, 1);
  std::fill(in.query.begin(), in.query.end(), 1.0f);
  std::fill(in.key.begin(), in.key.end(), -kInf);
  const Cache cache(*compute, in, {FirstTokens(3)});
  const auto dst =
      Attend(*compute, in, cache, {{0, 1, cache.blocks(0), 3, false}});
  for (int d = 0; d < 4; ++d) {
    EXPECT_NEAR(dst[d], (in.value[d] + in.value[4 + d] + in.value[8 + d]) / 3,
                1e-6);
  }
}

TEST_P(AttentionTest, LargeValuesDoNotOverflow) {
  const auto compute = MakeCompute();
  Inputs in({1, 1, 16, 1, 100}, 1);
  std::fill(in.value.begin(), in.value.end(), 3e38f);
  const Cache cache(*compute, in, {FirstTokens(100)});
  for (float x :
       Attend(*compute, in, cache, {{0, 1, cache.blocks(0), 100, false}})) {
    EXPECT_NEAR(x / 3e38, 1, 1e-5);
  }
}

// Beams of one request share their cross keys; other rows stay as they are.
TEST_P(AttentionTest, WritesItsOwnRowsOnly) {
  const auto compute = MakeCompute(2);
  const Inputs in({2, 2, 8, 6, 30}, 1);
  const Cache cache(*compute, in, {FirstTokens(30)});
  const auto dst =
      Attend(*compute, in, cache, {{1, 4, cache.blocks(0), 30, false}});
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(dst[i], 0.0f);
    EXPECT_EQ(dst[5 * 16 + i], 0.0f);
    EXPECT_NE(dst[16 + i], 0.0f);
  }
}

TEST(CopyKvTest, CopiesTheFilledPartOnly) {
  constexpr KvLayout kLayout{.layers = 2, .kv_heads = 3, .head_dim = 5};
  const size_t floats = kLayout.block_bytes() / sizeof(float);
  for (int tokens : {0, 1, 7, kTokens}) {
    const std::vector<float> from = Random(floats, 3);
    std::vector<float> to(floats, -1000.0f);
    const size_t bytes =
        CopyKv(kLayout, reinterpret_cast<const std::byte*>(from.data()), tokens,
               reinterpret_cast<std::byte*>(to.data()));
    EXPECT_EQ(bytes, 2u * 2 * 3 * 5 * tokens * sizeof(float));
    size_t changed = 0;
    for (size_t i = 0; i < floats; ++i) {
      if (to[i] == -1000.0f) continue;
      EXPECT_EQ(to[i], from[i]);
      ++changed;
    }
    EXPECT_EQ(changed * sizeof(float), bytes);
  }
}

// A copy attends like its original, layer by layer.
TEST(CopyKvTest, CopyIsReadLikeTheOriginal) {
  Compute compute(ComputeOptions{.threads = 1});
  compute.ReserveScratch(AttentionScratchFloats(kTokens));
  const Inputs in({2, 1, 9, 1, 11}, 1);
  const Cache cache(compute, in, {FirstTokens(11)});
  Blocks copies(cache.layout(), 1);
  const std::vector<std::byte*> copy = copies.Take(11);
  CopyKv(cache.layout(), cache.blocks(0)[0], 11, copy[0]);
  EXPECT_EQ(Attend(compute, in, cache, {{0, 1, copy, 11, false}}),
            Attend(compute, in, cache, {{0, 1, cache.blocks(0), 11, false}}));
}

}  // namespace
}  // namespace attend
