// A safetensors file: its header, and the matrices that it holds in each of the
// quantised layouts.
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/quantized_checkpoint.h"
#include "engine/checkpoint/safetensors.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

constexpr size_t kMaxNumbers = 1 << 16;

// The tensors fill the file behind the header.
void CheckEntries(const std::map<std::string, SafetensorsEntry>& entries,
                  const uint8_t* data, size_t size) {
  size_t bytes = 0;
  for (const auto& [name, entry] : entries) {
    ATTEND_CHECK(entry.begin <= entry.end && entry.end <= size);
    bytes += entry.end - entry.begin;
    bool empty = false;
    for (const int64_t dim : entry.shape) {
      ATTEND_CHECK(dim >= 0);
      empty = empty || dim == 0;
    }
    ATTEND_CHECK(empty == (entry.begin == entry.end));
  }
  uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | data[i];
  ATTEND_CHECK(8 + header + bytes == size);
}

// Reads all numbers of all quantised matrices.
void ReadMatrices(const std::string& directory, MatrixLayout layout, int bits) {
  auto opened = Checkpoint::Open(directory);
  ATTEND_CHECK(opened.ok());
  const QuantizedCheckpoint checkpoint(std::move(*opened),
                                       {.layout = layout,
                                        .bits = bits,
                                        .group_size = 2,
                                        .zeros_less_one = true});
  for (const std::string& name : checkpoint.Names()) {
    ATTEND_CHECK(checkpoint.Has(name));
    const auto view = checkpoint.Find(name);
    if (!view.ok()) {
      ATTEND_CHECK(view.status().message().find(directory) !=
                   absl::string_view::npos);
      continue;
    }
    if (view->rows == nullptr || view->count() > kMaxNumbers) continue;
    std::vector<float> numbers(view->count());
    view->rows->Read(0,
                     {numbers.data(), view->rows->rows(), view->rows->cols()});
    for (const float number : numbers) ATTEND_CHECK(std::isfinite(number));
  }
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  const auto entries = ReadSafetensorsHeader("f.safetensors", {data, size});
  if (!Accepted(entries.status(), "f.safetensors")) return 0;
  CheckEntries(*entries, data, size);
  directory.Write("model.safetensors", View(data, size));
  for (const int bits : {4, 8}) {
    ReadMatrices(directory.path(), MatrixLayout::kGptq, bits);
    ReadMatrices(directory.path(), MatrixLayout::kPackQuantized, bits);
  }
  ReadMatrices(directory.path(), MatrixLayout::kAwq, 4);
  ReadMatrices(directory.path(), MatrixLayout::kIntQuantized, 8);
  ReadMatrices(directory.path(), MatrixLayout::kTorchaoInt8, 8);
  return 0;
}
