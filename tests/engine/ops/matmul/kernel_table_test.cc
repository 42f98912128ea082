#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/ops/matmul/multiply_kernel.h"

// The table of docs/architecture.md that says which kernel serves which dtype
// and instruction set, compared with the dispatch.
namespace attend {
namespace {

constexpr ComputeType kEveryType[] = {ComputeType::kF32, ComputeType::kBf16,
                                      ComputeType::kInt8, ComputeType::kW8,
                                      ComputeType::kInt4};
constexpr Isa kEveryIsa[] = {Isa::kBaseline,   Isa::kAvx2,       Isa::kAvx512,
                             Isa::kAvx512Vnni, Isa::kAvx512Bf16, Isa::kAmx};
constexpr int kEven = 64;  // elements of a row, whole units in every dtype

std::vector<std::string> CellsOf(const std::string& line) {
  std::vector<std::string> cells = absl::StrSplit(line, '|');
  for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
  if (cells.size() < 3) return {};
  return {cells.begin() + 1, cells.end() - 1};
}

// {dtype, instruction set} and the cell of the table.
using Table = std::map<std::pair<std::string, std::string>, std::string>;

Table ReadTable() {
  std::ifstream file(ATTEND_SOURCE_DIR "/docs/architecture.md");
  Table table;
  std::vector<std::string> head;
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, "| matrix products in |")) head = CellsOf(line);
    if (head.empty()) continue;
    const std::vector<std::string> cells = CellsOf(line);
    if (cells.size() != head.size()) break;
    for (size_t i = 1; i < cells.size(); ++i) {
      table[{cells[0], head[i]}] = cells[i];
    }
  }
  return table;
}

TEST(KernelTableTest, NamesTheKernelOfEveryDtypeAndInstructionSet) {
  const Table table = ReadTable();
  for (const ComputeType dtype : kEveryType) {
    // Equal cells are one kernel, others are others.
    std::map<MultiplyKernel, std::string> names;
    std::map<std::string, MultiplyKernel> kernels;
    for (const Isa isa : kEveryIsa) {
      const auto found =
          table.find({std::string(TypeName(dtype)), std::string(IsaName(isa))});
      ASSERT_NE(found, table.end()) << TypeName(dtype) << " " << IsaName(isa);
      const std::string& cell = found->second;
      SCOPED_TRACE(
          absl::StrCat(TypeName(dtype), ", ", IsaName(isa), ": ", cell));
      EXPECT_EQ(cell == "refused", !CheckComputeType(dtype, isa).ok());
      if (cell == "refused") continue;
      MultiplyKernel const kernel = MultiplyKernelFor(dtype, kEven, isa);
      EXPECT_EQ(cell == "oneDNN", kernel == nullptr);
      EXPECT_EQ(names.emplace(kernel, cell).first->second, cell);
      EXPECT_EQ(kernels.emplace(cell, kernel).first->second, kernel);
    }
  }
}

// The text below the table: bf16 is multiplied in pairs.
TEST(KernelTableTest, OddRowsOfBf16AreLeftToOneDnn) {
  for (const Isa isa : {Isa::kAvx512Bf16, Isa::kAmx}) {
    EXPECT_EQ(MultiplyKernelFor(ComputeType::kBf16, kEven + 1, isa), nullptr);
  }
}

}  // namespace
}  // namespace attend
