#ifndef ATTEND_ENGINE_CHECKPOINT_LORA_LORA_TENSORS_H_
#define ATTEND_ENGINE_CHECKPOINT_LORA_LORA_TENSORS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/checkpoint.h"

namespace attend {

// The tensors of an adapter for one module: names in the file, "" for none.
struct LoraModule {
  // Matrices of a linear layer, or of an embedding: [rank, in] and [out, rank].
  std::string a;
  std::string b;
  bool embedding = false;
};

struct LoraTensors {
  std::map<std::string, LoraModule> modules;  // by the name of the module
  // Tensors that take the place of the model's (modules_to_save, embeddings
  // that changed): the name in the model to that in the file.
  std::map<std::string, std::string> replaced;
  // Tensors [tokens, width] of some rows of a table, by the name of the module.
  std::map<std::string, std::string> trained_tokens;
};

// Sorts the tensors of an adapter's file by the names that peft gives them.
// INVALID_ARGUMENT names a tensor of another kind.
absl::StatusOr<LoraTensors> SortLoraTensors(const Checkpoint& file);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_LORA_LORA_TENSORS_H_
