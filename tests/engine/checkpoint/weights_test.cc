#include "engine/checkpoint/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/scaled_rows.h"
#include "engine/tensor/half.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WeightsTest : public testing::Test {
 protected:
  WeightsTest() {
    directory_.Write(
        "model.safetensors",
        Safetensors(
            R"({"l.3.w":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},)"
            R"("shared":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]}})",
            std::string("\x80\x3f\x00\x40\x00\x00", 6)));
    checkpoint_ =
        std::make_unique<Checkpoint>(*Checkpoint::Open(directory_.path()));
    names_.rows = {{"layer.{}.weight", {"l.{}.w"}},
                   {"head", {"lm_head", "shared"}},
                   {"bias", {"b"}, /*zero_if_missing=*/true}};
  }
  TestDirectory directory_;
  std::unique_ptr<Checkpoint> checkpoint_;
  NameTable names_;
};

TEST_F(WeightsTest, FindsSlotsByTheTable) {
  Weights weights(*checkpoint_, names_);
  EXPECT_TRUE(weights.Has("layer.3.weight"));
  EXPECT_FALSE(weights.Has("layer.4.weight"));
  EXPECT_TRUE(weights.Has("head"));
  EXPECT_FALSE(weights.Has("bias"));
  EXPECT_FALSE(weights.Has("nothing"));
  const auto values = weights.Read("layer.3.weight", {1, 2});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0], 1.0f);
  EXPECT_EQ((*values)[1], 2.0f);
}

// Has no tensors: those of the test are in memory of its own.
class NoTensors final : public TensorSource {
 public:
  bool Has(absl::string_view) const override { return false; }
  std::vector<std::string> Names() const override { return {}; }
  absl::StatusOr<TensorView> Find(absl::string_view) const override {
    return absl::NotFoundError("no tensors");
  }
  void Drop(absl::Span<const uint8_t>) const override {}
  const std::string& path() const override { return path_; }

 private:
  const std::string path_ = "none";
};

// Rows of blocks of 4 bits, out of order in the file and only some of it.
TEST(SlotRowsTest, RowsOfFourBitsAreThoseOfTheSlot) {
  const NoTensors source;
  constexpr int kRows = 8, kCols = 64;
  std::vector<uint8_t> bytes(3 * kRows * BytesOf(StorageType::kQ4_1, kCols));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(i * 37 + i / 20);
    // Scales of ordinary size.
    if (i % 20 == 1 || i % 20 == 3) bytes[i] = 0x30 + i % 5;
  }
  const TensorView view = {.type = StorageType::kQ4_1,
                           .shape = {3 * kRows, kCols},
                           .bytes = bytes,
                           .place = "w"};
  const TensorSlices slices = {.first = 1, .total = 3, .interleaved = 4};
  const SlotRows rows(source, view, slices, kRows, kCols);
  for (int row = 0; row < kRows; ++row) {
    std::vector<float> numbers(kCols);
    rows.Read(row, {numbers.data(), 1, kCols});
    std::vector<FourBitGroup> groups(2);
    ASSERT_TRUE(rows.ReadFourBits(row, absl::MakeSpan(groups)));
    for (int i = 0; i < kCols; ++i) {
      const FourBitGroup& group = groups[i / 32];
      EXPECT_EQ(HalfToFloat(group.scale) * group.codes[i % 32] +
                    HalfToFloat(group.min),
                numbers[i]);
    }
  }
  const TensorView floats = {
      .shape = {1, 32}, .bytes = {bytes.data(), 128}, .place = "w"};
  FourBitGroup group;
  EXPECT_FALSE(SlotRows(source, floats, {}, 1, 32)
                   .ReadFourBits(0, absl::MakeSpan(&group, 1)));
}

// The first 4 of each 6 rows stand together in pairs.
TEST(SlotRowsTest, APartOfAGroupMayStandTogether) {
  const NoTensors source;
  std::vector<float> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const TensorView view = {
      .shape = {12, 1},
      .bytes = {reinterpret_cast<const uint8_t*>(numbers.data()), 48},
      .place = "w"};
  const SlotRows rows(source, view, {.interleaved = 4, .interleaved_of = 6}, 12,
                      1);
  std::vector<float> found(12);
  rows.Read(0, {found.data(), 12, 1});
  EXPECT_EQ(found, (std::vector<float>{0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11}));
}

// Outputs of rows that stand together make columns that do.
TEST(SlotRowsTest, ColumnsThatStandTogetherAreParted) {
  const NoTensors source;
  std::vector<float> numbers(2 * 8);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const TensorView view = {
      .shape = {2, 8},
      .bytes = {reinterpret_cast<const uint8_t*>(numbers.data()), 64},
      .place = "w"};
  const SlotRows rows(source, view, {.interleaved_columns = 4}, 2, 8);
  std::vector<float> found(2 * 8);
  rows.Read(0, {found.data(), 2, 8});
  EXPECT_EQ(found, (std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7,  //
                                       8, 10, 9, 11, 12, 14, 13, 15}));
  FourBitGroup group;
  EXPECT_FALSE(rows.ReadFourBits(0, absl::MakeSpan(&group, 1)));
}

TEST_F(WeightsTest, ARowIsAVector) {
  Weights weights(*checkpoint_, names_);
  EXPECT_TRUE(weights.Read("layer.3.weight", {2}).ok());
}

TEST_F(WeightsTest, ATensorMayHoldSeveralSlots) {
  directory_.Write(
      "model.safetensors",
      Safetensors(
          R"({"qk":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},)"
          R"("qk.b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]}})",
          std::string("\x80\x3f\x00\x40\x40\x40\x80\x40", 8)));
  const auto checkpoint = Checkpoint::Open(directory_.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  names_.rows = {
      {.slot = "q", .tensors = {"qk"}, .slices = {.first = 0, .total = 2}},
      {.slot = "k", .tensors = {"qk"}, .slices = {.first = 1, .total = 2}},
      {.slot = "k.b", .tensors = {"qk.b"}, .slices = {.first = 1, .total = 2}},
      {.slot = "row", .tensors = {"qk.b"}}};
  Weights weights(*checkpoint, names_);
  EXPECT_EQ((*weights.Read("row", {1, 2}))[1], 4.0f);
  EXPECT_EQ((*weights.Read("q", {1, 1}))[0], 1.0f);
  const auto k = weights.Read("k", {1, 1});
  EXPECT_EQ(k->size(), 1u);
  EXPECT_EQ((*k)[0], 2.0f);
  EXPECT_EQ((*weights.Read("k.b", {1}))[0], 4.0f);
  EXPECT_THAT(weights.Read("k", {2, 1}).status().message(),
              HasSubstr("has shape [2, 1], expected [4, 1] (k)"));
}

TEST_F(WeightsTest, MissingBiasIsZero) {
  Weights weights(*checkpoint_, names_);
  const auto bias = weights.Read("bias", {3});
  ASSERT_TRUE(bias.ok()) << bias.status();
  EXPECT_EQ(bias->size(), 3u);
  EXPECT_EQ((*bias)[2], 0.0f);
}

TEST_F(WeightsTest, ErrorsNameSlotTensorAndShapes) {
  Weights weights(*checkpoint_, names_);
  EXPECT_THAT(weights.Read("layer.4.weight", {1, 2}).status().message(),
              AllOf(HasSubstr("no tensor l.4.w"), HasSubstr("layer.4.weight"),
                    HasSubstr("[1, 2]")));
  // The expected size must not be allocated before the shape is compared.
  EXPECT_THAT(
      weights.Read("head", {1 << 20, 1 << 20, 1 << 10}).status().message(),
      AllOf(HasSubstr("model.safetensors"), HasSubstr("tensor shared"),
            HasSubstr("[1]"), HasSubstr("[1048576, 1048576, 1024]"),
            HasSubstr("(head)")));
  EXPECT_TRUE(absl::IsInternal(weights.Read("nothing", {1}).status()));
}

TEST_F(WeightsTest, ATensorThatNobodyReadIsNamed) {
  Weights weights(*checkpoint_, names_);
  ASSERT_TRUE(weights.Read("head", {1}).ok());
  EXPECT_THAT(weights.CheckAllRead().message(), HasSubstr("tensor l.3.w"));
  ASSERT_TRUE(weights.Read("layer.3.weight", {2}).ok());
  EXPECT_TRUE(weights.CheckAllRead().ok());

  names_.unused = {"l.{}.w", "shared"};
  EXPECT_TRUE(Weights(*checkpoint_, names_).CheckAllRead().ok());
  names_.unused = {"l.{}.x", "l.3"};
  EXPECT_FALSE(Weights(*checkpoint_, names_).CheckAllRead().ok());
}

TEST_F(WeightsTest, ValuesThatAreNotFiniteAreNamed) {
  for (const char* bad : {"\x80\x7f", "\x80\xff", "\xc1\x7f"}) {
    directory_.Write(
        "model.safetensors",
        Safetensors(
            R"({"l.3.w":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]}})",
            std::string(4, '\0') + bad));
    const auto checkpoint = Checkpoint::Open(directory_.path());
    Weights weights(*checkpoint, names_);
    EXPECT_THAT(
        weights.Rows("layer.3.weight", {3}).status().message(),
        AllOf(HasSubstr("tensor l.3.w holds "), HasSubstr("at element 2")));
  }
}

TEST_F(WeightsTest, SlotsAreTheSameIfTheyHaveTheSameSlicesOfOneTensor) {
  names_.rows = {
      {"tokens", {"shared"}}, {"logits", {"lm_head", "shared"}},
      {"layer", {"l.3.w"}},   {"slice", {"l.3.w"}, false, {.total = 2}},
      {"none", {"nothing"}},  {"neither", {"nothing"}}};
  const Weights weights(*checkpoint_, names_);
  EXPECT_TRUE(weights.AreSame("tokens", "logits"));
  EXPECT_FALSE(weights.AreSame("tokens", "layer"));
  EXPECT_FALSE(weights.AreSame("layer", "slice"));
  EXPECT_FALSE(weights.AreSame("none", "neither"));
}

// One matrix of int8 under two names.
class QuantisedSource final : public TensorSource {
 public:
  bool Has(absl::string_view name) const override {
    return name == "t" || name == "u";
  }
  std::vector<std::string> Names() const override { return {"t", "u"}; }
  absl::StatusOr<TensorView> Find(absl::string_view name) const override {
    const absl::Span<const uint8_t> bytes(numbers_);
    return TensorView{.shape = {3, 2},
                      .bytes = bytes,
                      .place = absl::StrCat("f: tensor ", name),
                      .rows = std::make_shared<ScaledRows>(
                          bytes, std::vector<float>{0.5f, 1, 2})};
  }
  void Drop(absl::Span<const uint8_t>) const override {}
  const std::string& path() const override { return path_; }

 private:
  const std::vector<uint8_t> numbers_ = {2, 254, 3, 253, 127, 128};
  const std::string path_ = "f";
};

TEST(QuantisedTest, RowsAreReadThroughTheView) {
  const QuantisedSource source;
  NameTable names;
  names.rows = {{"all", {"t"}},
                {"same", {"u"}},
                {"last", {"u"}, false, {.first = 1, .taken = 2, .total = 3}},
                {"columns", {"t"}, false, {.transposed = true}}};
  Weights weights(source, names);
  const auto all = weights.Read("all", {3, 2});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(absl::MakeConstSpan(all->data(), all->size()),
              ElementsAre(1, -1, 3, -3, 254, -256));
  const auto last = weights.Rows("last", {2, 2});
  ASSERT_TRUE(last.ok()) << last.status();
  float copy[4];
  (*last)->Copy().Read(0, {copy, 2, 2});
  EXPECT_THAT(copy, ElementsAre(3, -3, 254, -256));
  EXPECT_TRUE(weights.AreSame("all", "same"));
  EXPECT_FALSE(weights.AreSame("all", "last"));
  EXPECT_THAT(weights.Rows("columns", {2, 3}).status().message(),
              HasSubstr("f: tensor t is quantised, expected plain numbers"));
}

// The numbers 1, 2, ... as one tensor "t" of so many rows and columns.
class SlicesTest : public testing::Test {
 protected:
  SlicesTest(int rows, int columns) {
    std::string bytes;
    for (int i = 1; i <= rows * columns; ++i) {
      const uint32_t bits = absl::bit_cast<uint32_t>(static_cast<float>(i));
      bytes.append({static_cast<char>(bits >> 16 & 0xff),
                    static_cast<char>(bits >> 24)});
    }
    directory_.Write(
        "model.safetensors",
        Safetensors(absl::StrCat(R"({"t":{"dtype":"BF16","shape":[)", rows, ",",
                                 columns, R"(],"data_offsets":[0,)",
                                 bytes.size(), "]}}"),
                    bytes));
    checkpoint_ =
        std::make_unique<Checkpoint>(*Checkpoint::Open(directory_.path()));
  }
  std::vector<float> Read(const NameRow& row, int rows, int columns) {
    NameTable names;
    names.rows = {row};
    Weights weights(*checkpoint_, names);
    const auto slot = weights.Rows("s", {rows, columns});
    EXPECT_TRUE(slot.ok()) << slot.status();
    if (!slot.ok()) return {};
    const std::vector<float> values = Floats(**slot, 0, rows);
    EXPECT_EQ(Floats((*slot)->Copy(), 0, rows), values);
    for (int first = 0; first < rows; ++first) {
      for (int count = 1; count <= rows - first; ++count) {
        EXPECT_EQ(
            Floats(**slot, first, count),
            std::vector<float>(values.begin() + first * columns,
                               values.begin() + (first + count) * columns));
      }
    }
    return values;
  }
  static std::vector<float> Floats(const RowSource& source, int first,
                                   int count) {
    std::vector<float> values(static_cast<size_t>(count) * source.cols());
    source.Read(first, {values.data(), count, source.cols()});
    return values;
  }

  TestDirectory directory_;
  std::unique_ptr<Checkpoint> checkpoint_;
};

struct UnevenSlices : SlicesTest {
  UnevenSlices() : SlicesTest(4, 2) {}
};
TEST_F(UnevenSlices, ASlotMayHaveSeveral) {
  // Two heads of queries, one of keys, one of values.
  EXPECT_THAT(Read({.slot = "s",
                    .tensors = {"t"},
                    .slices = {.first = 0, .taken = 2, .total = 4}},
                   2, 2),
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Read({.slot = "s",
                    .tensors = {"t"},
                    .slices = {.first = 3, .taken = 1, .total = 4}},
                   1, 2),
              ElementsAre(7, 8));
}

struct InterleavedSlices : SlicesTest {
  InterleavedSlices() : SlicesTest(6, 1) {}
};
TEST_F(InterleavedSlices, ASlotHasItsSliceOfEachGroup) {
  // Query, key and value of one head, then those of the next.
  EXPECT_THAT(Read({.slot = "s",
                    .tensors = {"t"},
                    .slices = {.first = 0, .total = 3, .groups = 2}},
                   2, 1),
              ElementsAre(1, 4));
  EXPECT_THAT(Read({.slot = "s",
                    .tensors = {"t"},
                    .slices = {.first = 2, .total = 3, .groups = 2}},
                   2, 1),
              ElementsAre(3, 6));
}

struct TransposedSlices : SlicesTest {
  TransposedSlices() : SlicesTest(2, 4) {}
};
TEST_F(TransposedSlices, RowsAreColumns) {
  EXPECT_THAT(
      Read({.slot = "s", .tensors = {"t"}, .slices = {.transposed = true}}, 4,
           2),
      ElementsAre(1, 5, 2, 6, 3, 7, 4, 8));
  EXPECT_THAT(Read({.slot = "s",
                    .tensors = {"t"},
                    .slices = {.transposed = true, .first = 1, .total = 2}},
                   2, 2),
              ElementsAre(3, 7, 4, 8));
}

}  // namespace
}  // namespace attend
