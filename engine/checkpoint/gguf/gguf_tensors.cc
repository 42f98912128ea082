#include "engine/checkpoint/gguf/gguf_tensors.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr uint64_t kMaxNameBytes = 256;
constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kMaxDim = uint64_t{1} << 40;

struct ReadType {
  uint32_t number;  // in a file
  StorageType type;
};
constexpr ReadType kReadTypes[] = {
    {0, StorageType::kF32},    {1, StorageType::kF16},
    {2, StorageType::kQ4_0},   {3, StorageType::kQ4_1},
    {6, StorageType::kQ5_0},   {7, StorageType::kQ5_1},
    {8, StorageType::kQ8_0},   {10, StorageType::kQ2K},
    {11, StorageType::kQ3K},   {12, StorageType::kQ4K},
    {13, StorageType::kQ5K},   {14, StorageType::kQ6K},
    {20, StorageType::kIq4Nl}, {23, StorageType::kIq4Xs},
    {30, StorageType::kBf16},
};

// Types that other programs read.
constexpr std::pair<uint32_t, const char*> kOtherTypes[] = {
    {9, "Q8_1"},     {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"},
    {18, "IQ3_XXS"}, {19, "IQ1_S"}, {21, "IQ3_S"},   {22, "IQ2_S"},
    {24, "I8"},      {25, "I16"},   {26, "I32"},     {27, "I64"},
    {28, "F64"},     {29, "IQ1_M"}, {34, "TQ1_0"},   {35, "TQ2_0"},
    {39, "MXFP4"},   {40, "NVFP4"},
};

// `place` begins the error.
absl::StatusOr<StorageType> TypeOf(const std::string& place, uint32_t number) {
  for (const ReadType& read : kReadTypes) {
    if (read.number == number) return read.type;
  }
  const auto* const other =
      std::find_if(std::begin(kOtherTypes), std::end(kOtherTypes),
                   [&](const auto& entry) { return entry.first == number; });
  return absl::InvalidArgumentError(absl::StrCat(
      place, " has type ",
      other == std::end(kOtherTypes) ? absl::StrCat(number) : other->second,
      ", which is not supported; supported are ",
      absl::StrJoin(kReadTypes, ", ",
                    [](std::string* out, const ReadType& read) {
                      absl::StrAppend(out, BlockOf(read.type).name);
                    })));
}

absl::Status ReadShape(const std::string& place, ByteReader& reader,
                       std::vector<int64_t>& shape) {
  ASSIGN_OR_RETURN(const uint32_t dims, reader.Read<uint32_t>(place));
  if (dims > kMaxDims) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, " has ", dims, " dimensions, limit is ", kMaxDims));
  }
  for (uint32_t i = 0; i < dims; ++i) {
    ASSIGN_OR_RETURN(const uint64_t dim, reader.Read<uint64_t>(place));
    if (dim < 1 || dim > kMaxDim) {
      return absl::InvalidArgumentError(absl::StrCat(
          place, " has a dimension of ", dim, ", expected 1 to ", kMaxDim));
    }
    shape.push_back(static_cast<int64_t>(dim));
  }
  std::reverse(shape.begin(), shape.end());
  return absl::OkStatus();
}

// The bytes of a tensor of this type and shape.
absl::StatusOr<size_t> SizeOf(const std::string& place, StorageType type,
                              const std::vector<int64_t>& shape) {
  const StorageBlock block = BlockOf(type);
  size_t numbers = 1;
  size_t bytes = 0;
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(numbers, static_cast<size_t>(dim), &numbers)) {
      numbers = 0;
      break;
    }
  }
  if (numbers == 0 || __builtin_mul_overflow(
                          numbers, static_cast<size_t>(block.bytes), &bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, " has a shape of more than 2^64 bytes: [",
                     absl::StrJoin(shape, ", "), "]"));
  }
  const int64_t row = shape.empty() ? 1 : shape.back();
  if (row % block.numbers != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, " has rows of ", row, " numbers, expected blocks ",
                     "of ", block.numbers, " for type ", block.name));
  }
  return BytesOf(type, numbers);
}

uint64_t RoundUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Reads what follows a tensor's name. Its bytes must begin at `begin` after the
// first of all tensors' bytes, of which there are fewer than `most`.
absl::StatusOr<GgufTensor> ReadTensor(const std::string& place, uint64_t begin,
                                      uint64_t most, ByteReader& reader) {
  GgufTensor tensor;
  RETURN_IF_ERROR(ReadShape(place, reader, tensor.shape));
  ASSIGN_OR_RETURN(const uint32_t number, reader.Read<uint32_t>(place));
  ASSIGN_OR_RETURN(tensor.type, TypeOf(place, number));
  ASSIGN_OR_RETURN(tensor.bytes, SizeOf(place, tensor.type, tensor.shape));
  ASSIGN_OR_RETURN(tensor.begin, reader.Read<uint64_t>(place));
  if (tensor.begin != begin) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, " has ", tensor.bytes, " bytes at offset ",
                     tensor.begin, ", expected offset ", begin));
  }
  if (begin <= most && tensor.bytes <= most - begin) return tensor;
  return absl::InvalidArgumentError(
      absl::StrCat(place, " has ", tensor.bytes, " bytes at offset ", begin,
                   ", but the file has ", most, " (is it cut?)"));
}

}  // namespace

absl::StatusOr<std::map<std::string, GgufTensor, std::less<>>> ReadGgufTensors(
    ByteReader& reader, uint64_t count, uint64_t alignment) {
  if (count > kMaxTensors) {
    return absl::InvalidArgumentError(absl::StrCat(
        reader.path(), ": has ", count, " tensors, limit is ", kMaxTensors));
  }
  const size_t file_bytes = reader.offset() + reader.left();
  std::map<std::string, GgufTensor, std::less<>> tensors;
  uint64_t end = 0;  // of the tensor before, from the first byte of them
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(
        const absl::string_view name,
        reader.Text(kMaxNameBytes, absl::StrCat("name of tensor ", i)));
    const std::string place =
        absl::StrCat(reader.path(), ": tensor ", absl::CHexEscape(name));
    ASSIGN_OR_RETURN(
        GgufTensor tensor,
        ReadTensor(place, RoundUp(end, alignment), file_bytes, reader));
    end = tensor.begin + tensor.bytes;
    if (!tensors.emplace(name, std::move(tensor)).second) {
      return absl::InvalidArgumentError(absl::StrCat(place, " occurs twice"));
    }
  }
  const uint64_t data = RoundUp(reader.offset(), alignment);
  if (count > 0 && data + end > file_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.path(), ": its tensors end at byte ", data + end,
                     ", but it has ", file_bytes, " (is it cut?)"));
  }
  for (auto& [name, tensor] : tensors) tensor.begin += data;
  return tensors;
}

}  // namespace attend
