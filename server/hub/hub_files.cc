#include "server/hub/hub_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/checkpoint/gguf/gguf_part_name.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kMaxListed = 100'000;
constexpr size_t kMaxChosen = 1'000;
constexpr int kMaxParts = 1'000;

bool Has(const HubListing& listing, absl::string_view file) {
  return std::find(listing.files.begin(), listing.files.end(), file) !=
         listing.files.end();
}

// Returns true if a file is small and describes a model, by its name:
// configuration, tokenizer, template.
bool Describes(absl::string_view name) {
  if (absl::EndsWith(name, ".index.json")) return false;
  for (const char* ending :
       {".json", ".jinja", ".spm", ".model", "vocabulary.txt"}) {
    if (absl::EndsWith(name, ending)) return true;
  }
  return name == "vocab.txt" || name == "merges.txt" ||
         name == "artifact.metadata";
}

// The digits in the name of a module's folder, "1_Pooling" or
// "query_0_Transformer" of a Router; "": it is no such name.
absl::string_view NumberIn(absl::string_view name) {
  const std::vector<absl::string_view> words = absl::StrSplit(name, '_');
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (!words[i].empty() &&
        std::all_of(words[i].begin(), words[i].end(), absl::ascii_isdigit)) {
      return words[i];
    }
  }
  return "";
}

bool IsVocabulary(absl::string_view file) {
  return absl::EndsWith(file, "vocabulary.txt") ||
         absl::EndsWith(file, "vocabulary.json");
}

// True for the weights of a LoRA adapter, which may be next to the model.
bool IsAdapter(absl::string_view path, const HubListing& listing) {
  return path == "adapter_model.safetensors" ||
         (path == "adapter_model.bin" &&
          !Has(listing, "adapter_model.safetensors"));
}

// True for the additional layers of BGE-M3.
bool IsTokenHead(absl::string_view path) {
  return path == "sparse_linear.pt" || path == "colbert_linear.pt";
}

std::string FileIn(absl::string_view folder, absl::string_view name) {
  return folder.empty() ? std::string(name) : absl::StrCat(folder, "/", name);
}

absl::Status NoWeights(const HubReference& reference,
                       const HubListing& listing) {
  const std::string& model = reference.repository;
  for (const std::string& file : listing.files) {
    if (absl::EndsWith(file, ".gguf")) {
      return absl::NotFoundError(absl::StrCat(
          model, ": has no ", kWeightsFile, ", but GGUF files; name one: ",
          "--hub=", model, "/", IsPlainPath(file) ? file : "FILE.gguf"));
    }
  }
  if (Has(listing, "adapter_config.json")) {
    return absl::NotFoundError(absl::StrCat(
        model, ": is an adapter, not a model; load its model with ",
        "--adapter=DIRECTORY, where DIRECTORY is from: hf download ", model,
        " --local-dir DIRECTORY"));
  }
  return absl::NotFoundError(
      absl::StrCat(model, ": has neither ", kWeightsFile, " nor ", kTorchFile,
                   ", nor the index (.index.json) of one in shards"));
}

// The file that says where the weights of a folder are, or is them; "" if there
// is none.
std::string WeightsOf(absl::string_view folder, const HubListing& listing) {
  const auto has = [&](const char* name) {
    return Has(listing, FileIn(folder, name));
  };
  for (const char* name : {kWeightsFile, kIndexFile}) {
    if (has(name)) return FileIn(folder, name);
  }
  // CTranslate2's file: the name alone would not distinguish it from a pickle.
  if (folder.empty() && has(kCtranslate2File) &&
      std::any_of(listing.files.begin(), listing.files.end(), IsVocabulary)) {
    return kCtranslate2File;
  }
  for (const char* name : {kTorchFile, kTorchIndexFile}) {
    if (has(name)) return FileIn(folder, name);
  }
  return "";
}

absl::StatusOr<std::vector<std::string>> ChooseParts(
    const HubReference& reference, const HubListing& listing) {
  std::vector<std::string> parts = PartsOf(reference.file);
  for (const std::string& part : parts) {
    if (Has(listing, part)) continue;
    return absl::NotFoundError(
        absl::StrCat(reference.repository, ": has no ", part));
  }
  return parts;
}

}  // namespace

absl::StatusOr<HubListing> ParseHubListing(const std::string& name,
                                           absl::string_view json) {
  ASSIGN_OR_RETURN(const JsonFile answer, JsonFile::Parse(name, json));
  HubListing listing;
  ASSIGN_OR_RETURN(listing.commit, answer.String("sha"));
  if (!IsCommit(listing.commit)) {
    return answer.Unexpected("sha", "a commit: 40 hexadecimal digits");
  }
  ASSIGN_OR_RETURN(const std::vector<JsonFile> files,
                   answer.Objects("siblings"));
  if (files.size() > kMaxListed) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": ", files.size(), " files, must be at most ", kMaxListed));
  }
  for (const JsonFile& file : files) {
    ASSIGN_OR_RETURN(std::string path, file.String("rfilename"));
    listing.files.push_back(std::move(path));
  }
  return listing;
}

bool IsModuleFolder(absl::string_view folder) {
  const std::vector<absl::string_view> names = absl::StrSplit(folder, '/');
  return names.size() <= 2 &&
         std::all_of(names.begin(), names.end(),
                     [](auto name) { return !NumberIn(name).empty(); });
}

bool IsFirstModuleFolder(absl::string_view folder) {
  const std::vector<absl::string_view> names = absl::StrSplit(folder, '/');
  return names.size() <= 2 &&
         std::all_of(names.begin(), names.end(),
                     [](auto name) { return NumberIn(name) == "0"; });
}

absl::StatusOr<std::vector<std::string>> ChooseFiles(
    const HubReference& reference, const HubListing& listing) {
  if (!reference.file.empty()) return ChooseParts(reference, listing);
  std::vector<std::string> chosen;
  std::vector<std::string> large;
  bool in_folders = false;  // all modules are, the first one too
  for (const std::string& path : listing.files) {
    if (!IsPlainPath(path)) continue;
    const size_t slash = path.rfind('/');
    const std::string folder = path.substr(0, slash == path.npos ? 0 : slash);
    const std::string name = path.substr(folder.empty() ? 0 : slash + 1);
    if (!folder.empty() && !IsModuleFolder(folder)) continue;
    if (Describes(name)) chosen.push_back(path);
    if (folder.empty() ? IsAdapter(path, listing) || IsTokenHead(path)
                       : path == WeightsOf(folder, listing)) {
      large.push_back(path);
      in_folders |= IsFirstModuleFolder(folder) && Has(listing, kModulesFile);
    }
  }
  chosen.insert(chosen.end(), large.begin(), large.end());
  const std::string weights = WeightsOf("", listing);
  if (!weights.empty()) chosen.push_back(weights);
  if (weights.empty() && !in_folders) return NoWeights(reference, listing);
  if (!Has(listing, "config.json") && !in_folders) {
    return absl::NotFoundError(
        absl::StrCat(reference.repository, ": has no config.json"));
  }
  if (chosen.size() > kMaxChosen) {
    return absl::InvalidArgumentError(
        absl::StrCat(reference.repository, ": ", chosen.size(),
                     " files, must be at most ", kMaxChosen));
  }
  return chosen;
}

std::vector<std::string> PartsOf(const std::string& file) {
  if (file.empty()) return {};
  const auto part = ParseGgufPartName(file);
  if (!part || part->count > kMaxParts) return {file};
  std::vector<std::string> parts;
  for (int number = 1; number <= part->count; ++number) {
    parts.push_back(GgufPartName{part->model, number, part->count}.Path());
  }
  return parts;
}

bool IsWeights(absl::string_view file) {
  const absl::string_view name = file.substr(file.rfind('/') + 1);
  return name == kWeightsFile || name == kTorchFile || IsIndex(file);
}

bool IsIndex(absl::string_view file) {
  const absl::string_view name = file.substr(file.rfind('/') + 1);
  return name == kIndexFile || name == kTorchIndexFile;
}

absl::StatusOr<std::vector<std::string>> ShardsIn(const std::string& directory,
                                                  const std::string& index) {
  ASSIGN_OR_RETURN(const std::set<std::string> names,
                   ShardsOf(absl::StrCat(directory, "/", index)));
  const size_t slash = index.rfind('/');
  const std::string folder = index.substr(0, slash == index.npos ? 0 : slash);
  std::vector<std::string> shards;
  shards.reserve(names.size());
  for (const std::string& name : names) shards.push_back(FileIn(folder, name));
  return shards;
}

absl::StatusOr<std::set<std::string>> ShardsOf(const std::string& index) {
  ASSIGN_OR_RETURN(const JsonFile json, JsonFile::Load(index));
  ASSIGN_OR_RETURN(const auto weight_map, json.StringMap("weight_map"));
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : weight_map) shards.insert(shard);
  for (const std::string& shard : shards) {
    if (IsPlainPath(shard) && !absl::StrContains(shard, '/') &&
        (absl::EndsWith(shard, ".safetensors") ||
         absl::EndsWith(shard, ".bin"))) {
      continue;
    }
    return json.Unexpected(
        "weight_map", "names of .safetensors or .bin files beside the index");
  }
  if (shards.empty() || shards.size() > kMaxChosen) {
    return absl::InvalidArgumentError(absl::StrCat(
        index, ": names ", shards.size(), " files, must be 1 to ", kMaxChosen));
  }
  return shards;
}

}  // namespace attend
