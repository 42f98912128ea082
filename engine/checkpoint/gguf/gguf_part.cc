#include "engine/checkpoint/gguf/gguf_part.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/checkpoint/gguf/byte_reader.h"
#include "engine/checkpoint/gguf/gguf_metadata.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint32_t kVersion2 = 2;
constexpr uint32_t kVersion3 = 3;
constexpr IntRange kAlignment = {8, 1 << 20};
constexpr char kSplitCount[] = "split.count";

absl::Status CheckStart(ByteReader& reader) {
  ASSIGN_OR_RETURN(const uint32_t magic, reader.Read<uint32_t>("the magic"));
  if (magic != kMagic) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.path(), ": not a GGUF file: begins with 0x",
                     absl::Hex(magic, absl::kZeroPad8), ", expected 0x",
                     absl::Hex(kMagic, absl::kZeroPad8)));
  }
  ASSIGN_OR_RETURN(const uint32_t version,
                   reader.Read<uint32_t>("the version"));
  if (version == kVersion2 || version == kVersion3) return absl::OkStatus();
  const bool swapped = (version & 0xffff) == 0;
  return absl::InvalidArgumentError(absl::StrCat(
      reader.path(), ": is GGUF ",
      swapped ? "in big-endian" : absl::StrCat("of version ", version),
      ", expected version 2 or 3 in little-endian"));
}

absl::StatusOr<uint64_t> Alignment(const JsonFile& metadata) {
  constexpr char kKey[] = "general.alignment";
  ASSIGN_OR_RETURN(const int64_t alignment,
                   metadata.IntOr(kKey, 32, kAlignment));
  if ((alignment & (alignment - 1)) != 0) {
    return metadata.Unexpected(kKey, "a power of 2");
  }
  return static_cast<uint64_t>(alignment);
}

}  // namespace

absl::StatusOr<GgufPart> ReadGgufPart(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<MappedFile> file, MappedFile::Open(path));
  ByteReader reader(path, file->bytes());
  RETURN_IF_ERROR(CheckStart(reader));
  ASSIGN_OR_RETURN(const uint64_t tensor_count,
                   reader.Read<uint64_t>("the count of tensors"));
  ASSIGN_OR_RETURN(const uint64_t key_count,
                   reader.Read<uint64_t>("the count of keys"));
  ASSIGN_OR_RETURN(JsonFile metadata, ReadGgufMetadata(reader, key_count));
  ASSIGN_OR_RETURN(const uint64_t alignment, Alignment(metadata));
  ASSIGN_OR_RETURN(auto tensors,
                   ReadGgufTensors(reader, tensor_count, alignment));
  return GgufPart{std::move(file), std::move(metadata), std::move(tensors)};
}

absl::StatusOr<GgufSplit> ReadGgufSplit(const JsonFile& metadata) {
  GgufSplit split;
  ASSIGN_OR_RETURN(const int64_t count,
                   metadata.IntOr(kSplitCount, 1, {0, kMaxGgufParts}));
  if (count <= 1) return split;
  split.count = static_cast<int>(count);
  ASSIGN_OR_RETURN(const int64_t number,
                   metadata.Int("split.no", {0, count - 1}));
  split.number = static_cast<int>(number);
  ASSIGN_OR_RETURN(const int64_t tensors,
                   metadata.Int("split.tensors.count", {0, kMaxTensors}));
  split.tensors = static_cast<int>(tensors);
  return split;
}

}  // namespace attend
