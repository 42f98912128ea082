#include "engine/runtime/default_compute_type.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/grouped_rows.h"
#include "engine/runtime/model_files.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/four_bit_source.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

TEST(DefaultComputeTypeTest, FloatsAreComputedInWhatTheCpuMultipliesFast) {
  const auto model = Checkpoint::Open(ATTEND_SOURCE_DIR "/models/en-de");
  ASSERT_TRUE(model.ok()) << model.status();
  const std::pair<Isa, ComputeType> defaults[] = {
      {Isa::kBaseline, ComputeType::kF32},
      {Isa::kAvx2, ComputeType::kW8},
      {Isa::kAvx512, ComputeType::kW8},
      {Isa::kAvx512Vnni, ComputeType::kInt8},
      {Isa::kAvx512Bf16, ComputeType::kInt8},
      {Isa::kAmx, ComputeType::kInt8},
  };
  for (const auto& [isa, dtype] : defaults) {
    EXPECT_EQ(DefaultComputeType(*model, isa), dtype) << IsaName(isa);
  }
}

TEST(DefaultComputeTypeTest, FourBitsStayFourBits) {
  const auto model = Checkpoint::Open(ATTEND_SOURCE_DIR "/models/en-de");
  ASSERT_TRUE(model.ok()) << model.status();
  const FourBitSource rounded(*model);
  EXPECT_EQ(DefaultComputeType(rounded, Isa::kBaseline), ComputeType::kInt4);
  EXPECT_EQ(DefaultComputeType(rounded, Isa::kAmx), ComputeType::kInt4);
}

// A source of one matrix, which is quantised.
class QuantisedSource final : public TensorSource {
 public:
  explicit QuantisedSource(GroupedMatrix matrix) {
    view_.shape = {matrix.rows, matrix.cols};
    view_.rows = std::make_shared<GroupedRows>(std::move(matrix));
  }

  bool Has(absl::string_view name) const override { return name == "w"; }
  std::vector<std::string> Names() const override { return {"w"}; }
  absl::StatusOr<TensorView> Find(absl::string_view) const override {
    return view_;
  }
  void Drop(absl::Span<const uint8_t>) const override {}
  const std::string& path() const override { return path_; }

 private:
  TensorView view_;
  const std::string path_ = "quantised";
};

TEST(DefaultComputeTypeTest, QuantisedMatricesOfFourBitsStayFourBits) {
  for (const int bits : {4, 8}) {
    const int columns = 2 * kGroupNumbers;
    const std::vector<uint8_t> stored(columns * bits / 8);
    const std::vector<uint8_t> scale(2);
    const QuantisedSource source({.rows = 1,
                                  .cols = columns,
                                  .stored = {.bytes = stored, .bits = bits},
                                  .scales = scale,
                                  .scale_row_stride = 1,
                                  .group_of = std::vector<int>(columns)});
    EXPECT_EQ(DefaultComputeType(source, Isa::kAmx),
              bits == 4 ? ComputeType::kInt4 : ComputeType::kInt8);
  }
}

// Where fewer columns have a scale in common than in int4, or they do not lie
// together, int4 would round the numbers once more.
TEST(DefaultComputeTypeTest, QuantisedDirectoriesStayAsTheyAreStored) {
  const std::pair<const char*, ComputeType> defaults[] = {
      {"awq", ComputeType::kInt8},          // 16 columns
      {"gptq-4-bits", ComputeType::kInt8},  // in another order
      {"compressed-tensors-8-bits-rows", ComputeType::kInt8},
  };
  for (const auto& [name, dtype] : defaults) {
    const auto files =
        OpenModelFiles(GoldenDirectory(std::string("quantized/") + name));
    ASSERT_TRUE(files.ok()) << files.status();
    EXPECT_EQ(DefaultComputeType(*files->tensors, Isa::kAmx), dtype) << name;
  }
}

}  // namespace
}  // namespace attend
