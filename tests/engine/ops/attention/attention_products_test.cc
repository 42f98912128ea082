// Attention with vectors of distances that queries and keys are multiplied
// with.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "engine/ops/attention/distance_tables.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

constexpr int kChunk = 512;  // keys that are computed at once

struct ProductsCase {
  AttentionShape shape;
  int most = 0;  // distances beyond are like this one
  bool keys = true;
  bool queries = true;
  bool holes = false;
  bool paired = false;
};

// The vectors of a case; in pairs all numbers are rounded.
class Products {
 public:
  explicit Products(const ProductsCase& c)
      : case_(c),
        in_(c.shape, 1),
        keys_(Vectors(c, 21)),
        queries_(Vectors(c, 22)) {
    for (int i = 0; i <= 2 * c.most; ++i) rows_.push_back(i * 5 % kVectors);
    for (int k = 0, at = 0; k < c.shape.keys; ++k) {
      positions_.push_back(at);
      at += c.holes && k % 5 == 2 ? 3 : 1;
    }
    if (!c.paired) return;
    in_ = Rounded(in_, KvType::kBf16);
    for (std::vector<float>* list : {&in_.query, &keys_, &queries_}) {
      AttentionInputs rounded({1, 1, 1, 1, 1}, 1);
      rounded.shape.head_dim = static_cast<int>(list->size());
      rounded.key = *list;
      rounded.value = *list;
      *list = Rounded(rounded, KvType::kBf16).key;
    }
  }

  const AttentionInputs& in() const { return in_; }
  DistanceTables Tables() const {
    const int width = in_.query_cols();
    const auto matrix = [&](bool has, const std::vector<float>& list) {
      return has ? std::make_optional(ConstMatrix(list.data(), kVectors, width))
                 : std::nullopt;
    };
    return {{.heads = case_.shape.heads,
             .head_dim = case_.shape.head_dim,
             .paired = case_.paired},
            rows_,
            matrix(case_.keys, keys_),
            matrix(case_.queries, queries_)};
  }
  AttentionPiece Piece(const Cache& cache, int row, int rows) const {
    AttentionPiece piece{.first_row = row,
                         .rows = rows,
                         .blocks = cache.blocks(0),
                         .keys = case_.shape.keys,
                         .position = row};
    if (case_.holes) piece.key_positions = positions_;
    return piece;
  }
  std::vector<double> Naive() const {
    const AttentionShape& s = case_.shape;
    const auto added = [&](int head, int q, int k) {
      const int distance = positions_[k] - positions_[q];
      const int row =
          rows_[std::clamp(distance, -case_.most, case_.most) + case_.most];
      const size_t vector = (size_t(row) * s.heads + head) * s.head_dim;
      const size_t query = (size_t(q) * s.heads + head) * s.head_dim;
      const int kv_head = head / (s.heads / s.kv_heads);
      const size_t key = (size_t(k) * s.kv_heads + kv_head) * s.head_dim;
      double sum = 0;
      for (int d = 0; d < s.head_dim; ++d) {
        if (case_.keys) sum += double(in_.query[query + d]) * keys_[vector + d];
        if (case_.queries) {
          sum += double(in_.key[key + d]) * queries_[vector + d];
        }
      }
      return sum * in_.scale();
    };
    return NaiveAttention(in_, PaddingMask({s.keys}, s.queries, s.keys), added);
  }

 private:
  static constexpr int kVectors = 13;

  static std::vector<float> Vectors(const ProductsCase& c, unsigned seed) {
    return RandomFloats(size_t{kVectors} * c.shape.heads * c.shape.head_dim,
                        seed);
  }

  const ProductsCase case_;
  AttentionInputs in_;
  std::vector<float> keys_;
  std::vector<float> queries_;
  std::vector<int> rows_;
  std::vector<int> positions_;
};

// Checks the results against the naive form, and that a row has the same bits
// with any other rows.
void ExpectProducts(Compute& compute, const ProductsCase& c) {
  SCOPED_TRACE(testing::Message()
               << c.shape.queries << " queries, " << c.shape.keys
               << " keys, distances to " << c.most << (c.keys ? ", keys" : "")
               << (c.queries ? ", queries" : "") << (c.holes ? ", holes" : "")
               << (c.paired ? ", paired" : ""));
  const Products products(c);
  const DistanceTables tables = products.Tables();
  const Cache cache(compute, products.in(), {FirstTokens(c.shape.keys)},
                    c.paired ? KvType::kBf16 : KvType::kF32, c.paired);
  const auto attend = [&](int rows) {
    std::vector<AttentionPiece> pieces;
    for (int row = 0; row < c.shape.queries; row += rows) {
      pieces.push_back(
          products.Piece(cache, row, std::min(rows, c.shape.queries - row)));
    }
    return Attend(compute, products.in(), cache, pieces,
                  AttentionRules{.distances = tables.products()});
  };
  const std::vector<float> whole = attend(c.shape.queries);
  // Scores have three products; a weight of pairs is off by half a step.
  double tolerance = 3 * AttentionTolerance(products.in());
  if (c.paired) tolerance += 4 * 0x1p-8;
  ExpectNear(whole, products.Naive(), tolerance);
  for (const int rows : {1, 5, 9}) EXPECT_EQ(attend(rows), whole) << rows;
}

using AttentionProductsTest = AttentionIsaTest;
INSTANTIATE_TEST_SUITE_P(AllIsas, AttentionProductsTest, kAttentionIsas,
                         NameOfIsa);

TEST_P(AttentionProductsTest, EqualTheNaiveForm) {
  const auto compute = MakeCompute(2);
  for (const bool holes : {false, true}) {
    ExpectProducts(*compute, {{3, 3, 7, 21, 21}, 6, true, true, holes});
    ExpectProducts(*compute, {{2, 1, 16, 37, 37}, 50, true, false, holes});
    ExpectProducts(*compute, {{4, 2, 8, 17, 33}, 0, false, true, holes});
  }
}

TEST_P(AttentionProductsTest, AcrossChunks) {
  const auto compute = MakeCompute();
  for (const int most : {9, 700}) {
    ExpectProducts(*compute, {{1, 1, 4, 37, kChunk + 45}, most});
  }
}

class PairedProductsTest : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Isas, PairedProductsTest,
                         testing::Values(Isa::kAvx512Bf16, Isa::kAmx),
                         NameOfIsa);

TEST_P(PairedProductsTest, EqualTheNaiveForm) {
  if (DetectIsa() < GetParam()) GTEST_SKIP() << "not on this machine";
  Compute compute({.threads = 2, .max_isa = GetParam()});
  // Tiles take heads of certain widths only.
  const int dim = GetParam() < Isa::kAmx ? 6 : 32;
  for (const bool holes : {false, true}) {
    ExpectProducts(compute, {{3, 3, dim, 21, 21}, 6, true, true, holes, true});
    ExpectProducts(compute,
                   {{2, 1, dim, 37, 37}, 50, true, false, holes, true});
    ExpectProducts(compute, {{2, 2, dim, 8, 16}, 0, false, true, holes, true});
    ExpectProducts(compute, {{1, 1, dim, 19, kChunk + 45},
                             holes ? 9 : 700,
                             true,
                             true,
                             holes,
                             true});
  }
}

}  // namespace
}  // namespace attend
