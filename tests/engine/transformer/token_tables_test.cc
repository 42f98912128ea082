#include "engine/transformer/token_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// Slots "a" and "b" have one tensor [2, 1], "c" another.
class TokenTablesTest : public testing::Test {
 protected:
  TokenTablesTest() {
    directory_.Write(
        "model.safetensors",
        Safetensors(
            R"({"x":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},)"
            R"("y":{"dtype":"BF16","shape":[2,1],"data_offsets":[4,8]}})",
            std::string("\x80\x3f\x00\x40\x00\x00\x80\x3f", 8)));
    checkpoint_ =
        std::make_unique<Checkpoint>(*Checkpoint::Open(directory_.path()));
    NameTable names;
    names.rows = {{"a", {"x"}}, {"b", {"x"}}, {"c", {"y"}}};
    weights_.emplace(*checkpoint_, names);
  }
  const RowSource* Load(TokenTables& tables, const std::string& slot) {
    return tables.Load(slot, 2, 1).value().get();
  }

  TestDirectory directory_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::optional<Weights> weights_;
};

TEST_F(TokenTablesTest, OneTensorIsHeldOnce) {
  TokenTables tables(*weights_);
  const RowSource* const a = Load(tables, "a");
  EXPECT_EQ(Load(tables, "b"), a);
  EXPECT_NE(Load(tables, "c"), a);
  float row = 0;
  a->Read(1, {&row, 1, 1});
  EXPECT_EQ(row, 2.0f);
  EXPECT_TRUE(weights_->CheckAllRead().ok());
}

TEST_F(TokenTablesTest, PackedNumbersServeForTheirTensor) {
  const auto packed = std::make_shared<const StoredRows>();
  TokenTables tables(*weights_);
  tables.Share("a", packed);
  EXPECT_NE(Load(tables, "c"), packed.get());
  EXPECT_EQ(Load(tables, "b"), packed.get());
}

TEST_F(TokenTablesTest, ASharedTensorIsCheckedNevertheless) {
  TokenTables tables(*weights_);
  tables.Share("a", std::make_shared<const StoredRows>());
  EXPECT_THAT(tables.Load("b", 3, 1).status().message(),
              HasSubstr("has shape [2, 1], expected [3, 1] (b)"));
}

}  // namespace
}  // namespace attend
