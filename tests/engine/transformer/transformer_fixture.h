#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_FIXTURE_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"
#include "engine/transformer/transformer.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/naive_transformer.h"
#include "tests/engine/transformer/variants.h"

namespace attend {

std::vector<int> RandomIds(int count, int vocab, uint32_t seed);

// f32 against f64: see the golden tests.
void ExpectRow(const std::vector<double>& expected, const float* found);

// A transformer and a naive transformer with the same random weights, and
// memory for the transformer: for the tests of encoder and decoder.
class TransformerTest : public testing::TestWithParam<Variant> {
 protected:
  static constexpr int kMaxRows = 32;

  TransformerTest();

  struct Source {
    std::vector<int> ids, positions, table_positions, types;
    std::unique_ptr<EncodeState> state;
    std::unique_ptr<BlockTable> cross;
    std::vector<std::vector<float>> hidden;  // [rows, hidden] at the end
  };

  // If the embedding has an uncounted_id, masks hide the tokens with this id.
  NaiveTransformer::Input NewInput(int count, uint32_t seed,
                                   const std::vector<int>& mask) const;
  // The tokens of `padded` whose mask is 1.
  Source NewSource(const NaiveTransformer::Input& padded,
                   const std::vector<int>& mask);
  Source NewSource(int count, uint32_t seed);

  // The full blocks of keys and values for the decoder.
  std::vector<std::string> CrossBlocks(const Source& source);

  // Encodes all sources together, `rows` rows of each in a step.
  void Encode(std::vector<Source*> sources, int rows);

  const TransformerSpec spec_;
  const TensorsBySlot weights_;
  const NaiveTransformer naive_;
  Compute compute_;
  Activations activations_;
  std::unique_ptr<Transformer> transformer_;
  std::optional<ExecContext> context_;
  std::optional<BlockPool> pool_;
  std::optional<EncodeBuffer> buffer_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_FIXTURE_H_
