#include "engine/checkpoint/gguf/gguf_file.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/checkpoint/gguf/gguf_part_name.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The name of the first part of a model in several files.
absl::StatusOr<GgufPartName> FirstName(const JsonFile& metadata,
                                       const GgufSplit& split) {
  const std::optional<GgufPartName> name = ParseGgufPartName(metadata.path());
  if (!name || name->count != split.count) {
    return metadata.Unexpected(
        "split.count",
        absl::StrCat("a file named NAME-00001-of-",
                     absl::Dec(split.count, absl::kZeroPad5), ".gguf"));
  }
  if (name->number != split.number + 1) {
    return metadata.Unexpected(
        "split.no", absl::StrCat(name->number - 1, ", as its name says"));
  }
  if (split.number == 0) return *name;
  GgufPartName first = *name;
  first.number = 1;
  return metadata.Unexpected(
      "split.no", absl::StrCat("0: name the first file, ", first.Path()));
}

// Part `number`, from 0, of the model of which `first` tells.
absl::StatusOr<GgufPart> ReadPart(const std::string& path, int number,
                                  const GgufSplit& first) {
  ASSIGN_OR_RETURN(GgufPart part, ReadGgufPart(path));
  ASSIGN_OR_RETURN(const GgufSplit split, ReadGgufSplit(part.metadata));
  const auto expect = [&](const char* key, int found, int expected) {
    if (found == expected) return absl::OkStatus();
    return part.metadata.Unexpected(
        key, absl::StrCat(expected, ": it is part ", number + 1, " of ",
                          first.count, " by its name"));
  };
  RETURN_IF_ERROR(expect("split.count", split.count, first.count));
  RETURN_IF_ERROR(expect("split.no", split.number, number));
  RETURN_IF_ERROR(expect("split.tensors.count", split.tensors, first.tensors));
  return part;
}

}  // namespace

absl::StatusOr<GgufFile> GgufFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(GgufPart first, ReadGgufPart(path));
  ASSIGN_OR_RETURN(const GgufSplit split, ReadGgufSplit(first.metadata));
  GgufFile file(first.metadata);
  GgufPartName name;
  if (split.count > 1) {
    ASSIGN_OR_RETURN(name, FirstName(first.metadata, split));
  }
  RETURN_IF_ERROR(file.Add(std::move(first)));
  if (split.count == 1) return file;
  for (int number = 1; number < split.count; ++number) {
    name.number = number + 1;
    ASSIGN_OR_RETURN(GgufPart part, ReadPart(name.Path(), number, split));
    RETURN_IF_ERROR(file.Add(std::move(part)));
    // So that many parts cannot take memory without limit.
    if (file.tensors_.size() > static_cast<size_t>(split.tensors)) break;
  }
  if (file.tensors_.size() != static_cast<size_t>(split.tensors)) {
    return file.metadata().Unexpected(
        "split.tensors.count",
        absl::StrCat(file.tensors_.size(), ", as the parts have"));
  }
  return file;
}

absl::Status GgufFile::Add(GgufPart part) {
  for (auto& [name, tensor] : part.tensors) {
    const auto [place, added] = tensors_.try_emplace(
        name, PartTensor{part.file.get(), std::move(tensor)});
    if (added) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(part.file->path(), ": tensor ", name, " is in ",
                     place->second.file->path(), ", too"));
  }
  files_.push_back(std::move(part.file));
  return absl::OkStatus();
}

bool GgufFile::Has(absl::string_view name) const {
  return tensors_.find(name) != tensors_.end();
}

std::vector<std::string> GgufFile::Names() const {
  std::vector<std::string> names;
  names.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

absl::StatusOr<TensorView> GgufFile::Find(absl::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    return absl::NotFoundError(absl::StrCat(path(), ": no tensor ", name));
  }
  const auto& [file, tensor] = found->second;
  return TensorView{.type = tensor.type,
                    .shape = tensor.shape,
                    .bytes = file->bytes().subspan(tensor.begin, tensor.bytes),
                    .place = absl::StrCat(file->path(), ": tensor ", name)};
}

void GgufFile::Drop(absl::Span<const uint8_t> bytes) const {
  MappedFile::Drop(bytes);
}

absl::Status GgufFile::CheckUnchanged() const {
  for (const auto& file : files_) RETURN_IF_ERROR(file->CheckUnchanged());
  return absl::OkStatus();
}

}  // namespace attend
