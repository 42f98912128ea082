#include "tests/engine/families/stored_checkpoint.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/weights.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/generation_config.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/transformer.h"
#include "tests/engine/families/read_modules.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr char kWeights[] = "model.safetensors";
constexpr int kMaxRows = 8;

std::string ReadBytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

StoredTensors Parse(const std::string& bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  const size_t data = sizeof(length) + length;
  const Json header = Json::parse(bytes.substr(sizeof(length), length));
  StoredTensors tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const size_t begin = entry["data_offsets"][0];
    const size_t end = entry["data_offsets"][1];
    tensors[name] = {entry["dtype"], entry["shape"],
                     bytes.substr(data + begin, end - begin)};
  }
  return tensors;
}

absl::Status LoadDirectory(Compute& compute, const std::string& directory) {
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::Load(directory + "/config.json"));
  ASSIGN_OR_RETURN(Family family, LoadFamily(config));
  RETURN_IF_ERROR(ReadSentenceModules(directory, family));
  if (family.spec.decoder) {
    RETURN_IF_ERROR(
        LoadGenerationDefaults(directory, config, family.spec).status());
  }
  ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                   Checkpoint::Open(directory, family.folders));
  Weights weights(checkpoint, std::move(family.names));
  RETURN_IF_ERROR(
      Transformer::Load(compute, family.spec, weights, {.max_rows = kMaxRows})
          .status());
  return weights.CheckAllRead();
}

}  // namespace

std::string BytesOf(const StoredTensors& tensors) {
  Json header = Json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {
        {"dtype", tensor.dtype},
        {"shape", tensor.shape},
        {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  return Safetensors(header.dump(), data);
}

std::set<std::string> SupportedModelTypes() {
  const auto none = JsonFile::Parse("config.json", R"({"model_type": ""})");
  const std::string error(LoadFamily(*none).status().message());
  const std::string before = "one of ";
  return absl::StrSplit(error.substr(error.find(before) + before.size()), ", ");
}

StoredCheckpoint::StoredCheckpoint(const std::string& directory) {
  fs::copy(ATTEND_SOURCE_DIR "/tests/golden/" + directory, directory_.path(),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  config = Json::parse(ReadBytes(directory_.path() + "/config.json"));
  tensors = Read(kWeights);
}

absl::Status StoredCheckpoint::Load(Compute& compute) {
  return LoadBytes(compute, BytesOf(tensors));
}

absl::Status StoredCheckpoint::LoadBytes(Compute& compute,
                                         const std::string& bytes) {
  Write("config.json", config.dump());
  Write(kWeights, bytes);
  return LoadDirectory(compute, directory_.path());
}

void StoredCheckpoint::Write(const std::string& name,
                             const std::string& text) const {
  const fs::path path = fs::path(directory_.path()) / name;
  fs::remove(path);
  if (text.empty()) return;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

StoredTensors StoredCheckpoint::Read(const std::string& name) const {
  return Parse(ReadBytes(directory_.path() + "/" + name));
}

}  // namespace attend
