#include "engine/checkpoint/checkpoint.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/checkpoint/converted_doubles.h"
#include "engine/checkpoint/foreign_file.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/checkpoint/weight_files.h"
#include "engine/json/shell_word.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The type that safetensors calls `dtype`; nullopt if the engine cannot read
// it.
std::optional<StorageType> TypeOf(absl::string_view dtype) {
  if (dtype == "F32") return StorageType::kF32;
  if (dtype == "F16") return StorageType::kF16;
  if (dtype == "BF16") return StorageType::kBf16;
  return std::nullopt;
}

absl::Status NotInOrder(const std::string& place,
                        const std::string& directory) {
  return absl::InvalidArgumentError(absl::StrCat(
      place,
      " is a view whose elements are not one after the other; write "
      "model.safetensors by: attend convert ",
      ShellWord(directory)));
}

absl::StatusOr<std::map<std::string, TorchEntry>> ReadHeader(
    const MappedFile& file) {
  RETURN_IF_ERROR(CheckNotForeign(file.path(), file.bytes()));
  if (!absl::EndsWith(file.path(), ".safetensors")) {
    return ReadTorchFile(file.path(), file.bytes());
  }
  std::map<std::string, TorchEntry> entries;
  ASSIGN_OR_RETURN(auto read, ReadSafetensorsHeader(file.path(), file.bytes()));
  for (auto& [name, entry] : read) {
    entries.emplace_hint(entries.end(), name,
                         TorchEntry{.dtype = std::move(entry.dtype),
                                    .shape = std::move(entry.shape),
                                    .begin = entry.begin,
                                    .end = entry.end});
  }
  return entries;
}

}  // namespace

Checkpoint::Checkpoint() : doubles_(std::make_unique<ConvertedDoubles>()) {}
Checkpoint::Checkpoint(Checkpoint&&) = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) = default;
Checkpoint::~Checkpoint() = default;

absl::StatusOr<Checkpoint> Checkpoint::Open(
    const std::string& directory, const std::vector<std::string>& folders,
    const std::string& model_folder) {
  Checkpoint checkpoint;
  checkpoint.directory_ = model_folder.empty()
                              ? directory
                              : absl::StrCat(directory, "/", model_folder);
  RETURN_IF_ERROR(checkpoint.AddDirectory(checkpoint.directory_, ""));
  for (const std::string& folder : folders) {
    if (!absl::c_all_of(absl::StrSplit(folder, '/'), IsPlainName)) {
      return absl::InvalidArgumentError(
          absl::StrCat(directory, ": weights are in \"", folder,
                       "\", expected the name of a folder in it"));
    }
    const std::string path = absl::StrCat(directory, "/", folder);
    absl::string_view name = folder;
    std::error_code ignored;
    if (absl::ConsumeSuffix(&name, ".pt") &&
        !std::filesystem::is_directory(path, ignored)) {
      RETURN_IF_ERROR(checkpoint.AddFile(path, absl::StrCat(name, "/")));
    } else {
      RETURN_IF_ERROR(checkpoint.AddDirectory(path, folder + "/"));
    }
  }
  return checkpoint;
}

absl::StatusOr<Checkpoint> Checkpoint::OpenFile(const std::string& path) {
  Checkpoint checkpoint;
  checkpoint.directory_ = path;
  RETURN_IF_ERROR(checkpoint.AddFile(path, ""));
  return checkpoint;
}

absl::Status Checkpoint::AddDirectory(const std::string& directory,
                                      const std::string& prefix) {
  ASSIGN_OR_RETURN(const WeightFiles files, FindWeightFiles(directory));
  for (const std::string& name : files.names) {
    RETURN_IF_ERROR(AddFile(absl::StrCat(directory, "/", name), prefix));
  }
  for (const auto& [tensor, name] : files.places) {
    const auto found = tensors_.find(prefix + tensor);
    if (found == tensors_.end() ||
        found->second.file->path() != absl::StrCat(directory, "/", name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          files.index, ": tensor ", tensor, " is not in ", name, " as listed"));
    }
  }
  return absl::OkStatus();
}

absl::Status Checkpoint::AddFile(const std::string& path,
                                 const std::string& prefix) {
  ASSIGN_OR_RETURN(std::unique_ptr<MappedFile> file, MappedFile::Open(path));
  ASSIGN_OR_RETURN(auto entries, ReadHeader(*file));
  for (auto& [name, entry] : entries) {
    const auto [at, added] = tensors_.try_emplace(
        prefix + name, Tensor{file.get(), std::move(entry), prefix + name});
    if (!added) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": tensor ", name, " is in ", at->second.file->path(), " too"));
    }
  }
  files_.push_back(std::move(file));
  return absl::OkStatus();
}

void Checkpoint::StripPrefix(const std::string& prefix) {
  std::map<std::string, Tensor, std::less<>> stripped;
  for (auto& [name, tensor] : tensors_) {
    absl::string_view rest = name;
    absl::ConsumePrefix(&rest, prefix);
    stripped.try_emplace(std::string(rest), std::move(tensor));
  }
  tensors_ = std::move(stripped);
}

bool Checkpoint::Has(absl::string_view name) const {
  return tensors_.find(name) != tensors_.end();
}

std::vector<std::string> Checkpoint::Names() const {
  std::vector<std::string> names;
  names.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

absl::StatusOr<const Checkpoint::Tensor*> Checkpoint::Look(
    absl::string_view name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return &found->second;
  return absl::NotFoundError(
      absl::StrCat(directory_, ": no tensor ", name, " in ",
                   absl::StrJoin(files_, ", ", [](std::string* out, auto& f) {
                     absl::StrAppend(out, f->path());
                   })));
}

Checkpoint::Stored Checkpoint::StoredOf(const Tensor& tensor) {
  const TorchEntry& entry = tensor.entry;
  return {.dtype = entry.dtype,
          .shape = entry.shape,
          .bytes = tensor.file->bytes().subspan(entry.begin,
                                                entry.end - entry.begin),
          .place = absl::StrCat(tensor.file->path(), ": tensor ", tensor.name)};
}

absl::StatusOr<Checkpoint::Stored> Checkpoint::FindStored(
    absl::string_view name) const {
  ASSIGN_OR_RETURN(const Tensor* tensor, Look(name));
  Stored stored = StoredOf(*tensor);
  if (tensor->entry.layout == TorchLayout::kRowMajor) return stored;
  return NotInOrder(stored.place, directory_);
}

absl::StatusOr<TensorView> Checkpoint::Find(absl::string_view name) const {
  ASSIGN_OR_RETURN(const Tensor* tensor, Look(name));
  Stored stored = StoredOf(*tensor);
  const TorchLayout layout = tensor->entry.layout;
  if (layout == TorchLayout::kOther) {
    return NotInOrder(stored.place, directory_);
  }
  if (stored.dtype == "F64") {
    stored.dtype = "F32";
    stored.bytes = doubles_->AsFloats(stored.bytes);
  }
  const std::optional<StorageType> type = TypeOf(stored.dtype);
  if (!type) {
    return absl::InvalidArgumentError(
        absl::StrCat(stored.place, " has dtype ", stored.dtype,
                     ", expected F64, F32, F16 or BF16"));
  }
  return TensorView{.type = *type,
                    .shape = std::move(stored.shape),
                    .bytes = stored.bytes,
                    .place = std::move(stored.place),
                    .column_major = layout == TorchLayout::kColumnMajor};
}

absl::Status Checkpoint::CheckUnchanged() const {
  for (const auto& file : files_) RETURN_IF_ERROR(file->CheckUnchanged());
  return absl::OkStatus();
}

void Checkpoint::Drop(absl::Span<const uint8_t> bytes) const {
  // Only a file can be read again.
  if (!doubles_->Has(bytes)) MappedFile::Drop(bytes);
}

}  // namespace attend
