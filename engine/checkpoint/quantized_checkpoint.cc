#include "engine/checkpoint/quantized_checkpoint.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/checkpoint/quantized_parts.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

constexpr absl::string_view kWeight = ".weight";

// How the names of a quantised matrix' parts end. The first has its numbers.
std::vector<absl::string_view> PartsOf(MatrixLayout layout) {
  switch (layout) {
    case MatrixLayout::kPlain:
      break;
    case MatrixLayout::kAwq:
      return {".qweight", ".scales", ".qzeros"};
    case MatrixLayout::kGptq:
      return {".qweight", ".scales", ".qzeros", ".g_idx"};
    case MatrixLayout::kPackQuantized:
      return {".weight_packed", ".weight_scale", ".weight_zero_point",
              ".weight_shape"};
    case MatrixLayout::kIntQuantized:
      return {kWeight, ".weight_scale"};
    case MatrixLayout::kTorchaoInt8:
      return {"._weight_qdata", "._weight_scale", "._weight_zero_point"};
  }
  return {};
}

// Whether a module's matrix is quantised. Numbers in int8 have the name of
// plain ones: there the scales tell.
bool IsQuantized(const Checkpoint& checkpoint, MatrixLayout layout,
                 absl::string_view module) {
  const std::vector<absl::string_view> parts = PartsOf(layout);
  return checkpoint.Has(absl::StrCat(module, parts[0])) &&
         (layout != MatrixLayout::kIntQuantized ||
          checkpoint.Has(absl::StrCat(module, parts[1])));
}

}  // namespace

QuantizedCheckpoint::QuantizedCheckpoint(Checkpoint checkpoint,
                                         Quantization quantization)
    : checkpoint_(std::move(checkpoint)), quantization_(quantization) {
  ATTEND_CHECK(quantization.layout != MatrixLayout::kPlain);
}

bool QuantizedCheckpoint::Has(absl::string_view name) const {
  if (checkpoint_.Has(name)) return true;
  return absl::ConsumeSuffix(&name, kWeight) &&
         IsQuantized(checkpoint_, quantization_.layout, name);
}

std::vector<std::string> QuantizedCheckpoint::Names() const {
  const std::vector<absl::string_view> parts = PartsOf(quantization_.layout);
  std::vector<std::string> names;
  for (const std::string& name : checkpoint_.Names()) {
    absl::string_view module;
    const auto part =
        std::find_if(parts.begin(), parts.end(), [&](absl::string_view end) {
          module = name;
          return absl::ConsumeSuffix(&module, end) &&
                 IsQuantized(checkpoint_, quantization_.layout, module);
        });
    if (part == parts.end()) {
      names.push_back(name);
    } else if (part == parts.begin()) {
      names.push_back(absl::StrCat(module, kWeight));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<TensorView> QuantizedCheckpoint::Find(
    absl::string_view name) const {
  absl::string_view rest = name;
  if (!absl::ConsumeSuffix(&rest, kWeight) ||
      !IsQuantized(checkpoint_, quantization_.layout, rest)) {
    return checkpoint_.Find(name);
  }
  const std::string module(rest);
  const absl::string_view stored = PartsOf(quantization_.layout)[0];
  if (stored != kWeight && checkpoint_.Has(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path(), ": has tensors ", name, " and ", module, stored,
                     ", expected one of them"));
  }
  switch (quantization_.layout) {
    case MatrixLayout::kPlain:
      break;
    case MatrixLayout::kAwq:
      return AwqView(checkpoint_, quantization_, module);
    case MatrixLayout::kGptq:
      return GptqView(checkpoint_, quantization_, module);
    case MatrixLayout::kPackQuantized:
      return PackQuantizedView(checkpoint_, quantization_, module);
    case MatrixLayout::kIntQuantized:
      return IntQuantizedView(checkpoint_, module);
    case MatrixLayout::kTorchaoInt8:
      return TorchaoInt8View(checkpoint_, module);
  }
  return checkpoint_.Find(name);
}

void QuantizedCheckpoint::Drop(absl::Span<const uint8_t> bytes) const {
  checkpoint_.Drop(bytes);
}

absl::Status QuantizedCheckpoint::CheckUnchanged() const {
  return checkpoint_.CheckUnchanged();
}

}  // namespace attend
