#include "engine/checkpoint/checkpoint.h"

#include <unistd.h>

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/json/json_file.h"
#include "engine/json/shell_word.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr char kSingle[] = "model.safetensors";

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Why a directory without model.safetensors cannot be loaded.
absl::Status NoWeights(const std::string& directory) {
  if (!Exists(directory)) {
    return absl::NotFoundError(absl::StrCat(directory, ": no such directory"));
  }
  if (Exists(directory + "/pytorch_model.bin") ||
      Exists(directory + "/pytorch_model.bin.index.json")) {
    return absl::NotFoundError(absl::StrCat(
        directory, ": has pytorch_model.bin but no ", kSingle,
        "; convert it with: attend convert ", ShellWord(directory)));
  }
  return absl::NotFoundError(absl::StrCat(
      directory,
      ": neither model.safetensors nor model.safetensors.index.json"));
}

// Why a folder of a module of sentence-transformers cannot be loaded.
absl::Status NoModuleWeights(const std::string& directory,
                             const std::string& folder) {
  const std::string path = absl::StrCat(directory, "/", folder);
  if (!Exists(path + "/pytorch_model.bin")) {
    return absl::NotFoundError(absl::StrCat(path, ": no ", kSingle));
  }
  return absl::NotFoundError(
      absl::StrCat(path, ": has pytorch_model.bin but no ", kSingle,
                   "; convert it with: attend convert ", ShellWord(directory)));
}

// Whether `name` can only name a file or folder directly in a directory.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string::npos &&
         name.find('\\') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// The files that an index lists; each is a plain name in the same directory.
absl::StatusOr<std::set<std::string>> ShardNames(
    const std::string& index,
    const std::map<std::string, std::string>& weight_map) {
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : weight_map) {
    if (!IsPlainName(shard)) {
      return absl::InvalidArgumentError(
          absl::StrCat(index, ": tensor ", tensor, " is in \"", shard,
                       "\", expected the name of a file beside the index"));
    }
    shards.insert(shard);
  }
  if (shards.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(index, ": weight_map is empty"));
  }
  return shards;
}

// The type that safetensors calls `dtype`; nullopt if the engine cannot read
// it.
std::optional<StorageType> TypeOf(absl::string_view dtype) {
  if (dtype == "F32") return StorageType::kF32;
  if (dtype == "F16") return StorageType::kF16;
  if (dtype == "BF16") return StorageType::kBf16;
  return std::nullopt;
}

}  // namespace

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
  RETURN_IF_ERROR(checkpoint.AddModel());
  for (const std::string& folder : folders) {
    if (!IsPlainName(folder)) {
      return absl::InvalidArgumentError(
          absl::StrCat(directory, ": weights are in \"", folder,
                       "\", expected the name of a folder in it"));
    }
    const std::string path = absl::StrCat(directory, "/", folder, "/", kSingle);
    if (!Exists(path)) return NoModuleWeights(directory, folder);
    RETURN_IF_ERROR(checkpoint.AddFile(path, folder + "/"));
  }
  return checkpoint;
}

absl::Status Checkpoint::AddModel() {
  const std::string single = absl::StrCat(directory_, "/", kSingle);
  const std::string index = directory_ + "/model.safetensors.index.json";
  if (Exists(single)) return AddFile(single, "");
  if (!Exists(index)) return NoWeights(directory_);

  ASSIGN_OR_RETURN(const JsonFile json, JsonFile::Load(index));
  ASSIGN_OR_RETURN(const auto weight_map, json.StringMap("weight_map"));
  ASSIGN_OR_RETURN(const std::set<std::string> shards,
                   ShardNames(index, weight_map));
  for (const std::string& shard : shards) {
    RETURN_IF_ERROR(AddFile(directory_ + "/" + shard, ""));
  }
  for (const auto& [tensor, shard] : weight_map) {
    const auto found = tensors_.find(tensor);
    if (found == tensors_.end() ||
        found->second.file->path() != directory_ + "/" + shard) {
      return absl::InvalidArgumentError(absl::StrCat(
          index, ": tensor ", tensor, " is not in ", shard, " as listed"));
    }
  }
  return absl::OkStatus();
}

absl::Status Checkpoint::AddFile(const std::string& path,
                                 const std::string& prefix) {
  ASSIGN_OR_RETURN(std::unique_ptr<MappedFile> file, MappedFile::Open(path));
  ASSIGN_OR_RETURN(auto entries, ReadSafetensorsHeader(path, file->bytes()));
  for (auto& [name, entry] : entries) {
    const auto [at, added] = tensors_.try_emplace(
        prefix + name, Tensor{file.get(), std::move(entry)});
    if (!added) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": tensor ", name, " is in ", at->second.file->path(), " too"));
    }
  }
  files_.push_back(std::move(file));
  return absl::OkStatus();
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

absl::StatusOr<Checkpoint::Stored> Checkpoint::FindStored(
    absl::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    return absl::NotFoundError(
        absl::StrCat(directory_, ": no tensor ", name, " in ",
                     absl::StrJoin(files_, ", ", [](std::string* out, auto& f) {
                       absl::StrAppend(out, f->path());
                     })));
  }
  const SafetensorsEntry& entry = found->second.entry;
  const MappedFile& file = *found->second.file;
  return Stored{
      .dtype = entry.dtype,
      .shape = entry.shape,
      .bytes = file.bytes().subspan(entry.begin, entry.end - entry.begin),
      .place = absl::StrCat(file.path(), ": tensor ", name)};
}

absl::StatusOr<TensorView> Checkpoint::Find(absl::string_view name) const {
  ASSIGN_OR_RETURN(Stored stored, FindStored(name));
  const std::optional<StorageType> type = TypeOf(stored.dtype);
  if (!type) {
    return absl::InvalidArgumentError(
        absl::StrCat(stored.place, " has dtype ", stored.dtype,
                     ", expected F32, F16 or BF16"));
  }
  return TensorView{.type = *type,
                    .shape = std::move(stored.shape),
                    .bytes = stored.bytes,
                    .place = std::move(stored.place)};
}

absl::Status Checkpoint::CheckUnchanged() const {
  for (const auto& file : files_) RETURN_IF_ERROR(file->CheckUnchanged());
  return absl::OkStatus();
}

void Checkpoint::Drop(absl::Span<const uint8_t> bytes) const {
  MappedFile::Drop(bytes);
}

}  // namespace attend
