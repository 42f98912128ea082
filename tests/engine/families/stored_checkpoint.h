#ifndef ATTEND_TESTS_ENGINE_FAMILIES_STORED_CHECKPOINT_H_
#define ATTEND_TESTS_ENGINE_FAMILIES_STORED_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/compute/compute.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {

// A tensor of a safetensors file.
struct StoredTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

using StoredTensors = std::map<std::string, StoredTensor>;

// The bytes of a safetensors file with these tensors.
std::string BytesOf(const StoredTensors& tensors);

// The model_type of every supported family, as the error for an unknown one
// lists them.
std::set<std::string> SupportedModelTypes();

// A golden checkpoint in memory. A test changes its config or tensors, and the
// next Load() finds the changes. Not thread-safe.
class StoredCheckpoint {
 public:
  // `directory` is below tests/golden.
  explicit StoredCheckpoint(const std::string& directory);

  // Loads the checkpoint as the engine does, in f32, without the tokenizer.
  absl::Status Load(Compute& compute);

  // The same with another model.safetensors.
  absl::Status LoadBytes(Compute& compute, const std::string& bytes);

  // Writes a file beside the model; makes its folder if that is missing. An
  // empty `text` removes the file.
  void Write(const std::string& name, const std::string& text) const;
  // Reads the tensors of a file beside the model.
  StoredTensors Read(const std::string& name) const;

  nlohmann::json config;
  StoredTensors tensors;

 private:
  TestDirectory directory_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_FAMILIES_STORED_CHECKPOINT_H_
