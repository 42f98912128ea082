#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_SLOT_CHECKPOINT_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_SLOT_CHECKPOINT_H_

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/checkpoint/weights.h"
#include "tests/engine/transformer/naive_transformer.h"

namespace attend {

// A safetensors directory with the slots as names, removed at the end.
class SlotCheckpoint {
 public:
  explicit SlotCheckpoint(const TensorsBySlot& tensors)
      : directory_(std::filesystem::temp_directory_path() /
                   ("attend_transformer_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
    nlohmann::json header;
    std::string data;
    for (const auto& [slot, tensor] : tensors) {
      const size_t begin = data.size();
      data.append(reinterpret_cast<const char*>(tensor.values.data()),
                  tensor.values.size() * sizeof(float));
      header[slot] = {{"dtype", "F32"},
                      {"shape", tensor.shape},
                      {"data_offsets", {begin, data.size()}}};
      names_.rows.push_back({.slot = slot, .tensors = {slot}});
    }
    const std::string text = header.dump();
    const uint64_t size = text.size();
    std::ofstream file(directory_ / "model.safetensors", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&size), sizeof(size));
    file << text << data;
  }
  ~SlotCheckpoint() { std::filesystem::remove_all(directory_); }

  std::string directory() const { return directory_; }
  const NameTable& names() const { return names_; }

 private:
  std::filesystem::path directory_;
  NameTable names_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_SLOT_CHECKPOINT_H_
