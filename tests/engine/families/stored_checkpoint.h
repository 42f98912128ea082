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

// A tensor as a file of safetensors has it.
struct StoredTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

using StoredTensors = std::map<std::string, StoredTensor>;

// The bytes of a file that holds them.
std::string BytesOf(const StoredTensors& tensors);

// Of every family that is supported, as the error of another one lists them.
std::set<std::string> SupportedModelTypes();

// A golden checkpoint in memory, to be spoiled: what is changed here is what
// the next Load() finds. Not thread-safe.
class StoredCheckpoint {
 public:
  // `directory` is under tests/golden.
  explicit StoredCheckpoint(const std::string& directory);

  // Loads it as the engine does, short of the tokenizer, in f32.
  absl::Status Load(Compute& compute);

  // The same with another model.safetensors.
  absl::Status LoadBytes(Compute& compute, const std::string& bytes);

  // A file beside the model, in a folder that may not be there yet; "": none.
  void Write(const std::string& name, const std::string& text) const;
  // The tensors of a file beside the model.
  StoredTensors Read(const std::string& name) const;

  nlohmann::json config;
  StoredTensors tensors;

 private:
  TestDirectory directory_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_FAMILIES_STORED_CHECKPOINT_H_
