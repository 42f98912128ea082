#include "engine/checkpoint/other_weights.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

// A file by which a format is known: how its name begins and ends.
struct Format {
  absl::string_view begin;
  absl::string_view end;
  absl::string_view name;
  absl::string_view advice;
};

constexpr absl::string_view kOlderTransformers =
    "transformers 4 reads it; save_pretrained() then writes model.safetensors";
constexpr absl::string_view kOriginal =
    "a graph of operations, which is not turned back; fetch the model that it "
    "was made of";
constexpr absl::string_view kOwnNames =
    "fetch the model in the form of transformers, or convert it with the "
    "script convert_*_weights_to_hf.py of transformers";
constexpr absl::string_view kRename =
    "if it holds a dictionary of tensors, name it pytorch_model.bin";
constexpr Format kFormats[] = {
    {"", ".gguf", "GGUF", "load the file itself by its path"},
    {"consolidated", ".safetensors", "the model's authors' own", kOwnNames},
    {"consolidated", ".pth", "the model's authors' own", kOwnNames},
    {"flax_model", ".msgpack", "Flax", kOlderTransformers},
    {"tf_model", ".h5", "TensorFlow", kOlderTransformers},
    {"model.ckpt", ".index", "TensorFlow 1", kOlderTransformers},
    {"weights", ".npz", "MLX", "fetch the model that it was made of"},
    {"openvino", ".xml", "OpenVINO", kOriginal},
    {"", ".onnx", "ONNX", kOriginal},
    {"rust_model", ".ot", "rust-bert", "fetch the model that it was made of"},
    {"", ".pt", "torch", kRename},
    {"", ".pth", "torch", kRename},
    {"", ".ckpt", "torch", kRename},
};

constexpr size_t kMaxListed = 10'000;

// Names in a directory; none if it cannot be read.
std::set<std::string> NamesIn(const fs::path& directory) {
  std::set<std::string> names;
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(directory, ignored);
       !ignored && entry != fs::directory_iterator() &&
       names.size() < kMaxListed;
       entry.increment(ignored)) {
    names.insert(entry->path().filename().string());
  }
  return names;
}

// The last of the folders checkpoint-N; "" if there is none.
std::string LastCheckpoint(const std::set<std::string>& names) {
  std::string last;
  int64_t most = -1;
  for (const std::string& name : names) {
    absl::string_view number = name;
    int64_t step = 0;
    if (absl::ConsumePrefix(&number, "checkpoint-") &&
        absl::SimpleAtoi(number, &step) && step > most) {
      last = name;
      most = step;
    }
  }
  return last;
}

}  // namespace

absl::Status NoWeights(const std::string& directory) {
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) {
    return absl::NotFoundError(absl::StrCat(directory, ": no such directory"));
  }
  std::set<std::string> names = NamesIn(directory);
  for (const std::string& name : NamesIn(directory + "/onnx")) {
    names.insert("onnx/" + name);
  }
  for (const Format& format : kFormats) {
    for (const std::string& name : names) {
      if (!absl::StartsWith(name, format.begin) ||
          !absl::EndsWith(name, format.end)) {
        continue;
      }
      return absl::NotFoundError(absl::StrCat(
          directory, ": has ", name, " (", format.name,
          ") but neither model.safetensors nor pytorch_model.bin; ",
          format.advice));
    }
  }
  if (const std::string last = LastCheckpoint(names); !last.empty()) {
    return absl::NotFoundError(absl::StrCat(
        directory, ": has no weights itself, but checkpoints of a training; ",
        "load one of them: ", directory, "/", last));
  }
  return absl::NotFoundError(
      absl::StrCat(directory,
                   ": neither model.safetensors nor pytorch_model.bin, nor the "
                   "index (.index.json) of one in shards"));
}

}  // namespace attend
