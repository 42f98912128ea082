#include "engine/checkpoint/lora/lora_tensors.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

constexpr absl::string_view kTrainedTokens =
    ".token_adapter.trainable_tokens_delta";

struct Ending {
  absl::string_view text;
  std::string LoraModule::*matrix;
  bool embedding;
};
constexpr Ending kEndings[] = {
    {".lora_A.weight", &LoraModule::a, false},
    {".lora_B.weight", &LoraModule::b, false},
    {".lora_A.default.weight", &LoraModule::a, false},
    {".lora_B.default.weight", &LoraModule::b, false},
    {".lora_embedding_A", &LoraModule::a, true},
    {".lora_embedding_B", &LoraModule::b, true},
};

// Adds a matrix of a module. Returns false if the name is of another kind.
bool AddMatrix(const std::string& name, absl::string_view module,
               LoraTensors& tensors) {
  for (const Ending& ending : kEndings) {
    if (!absl::ConsumeSuffix(&module, ending.text)) continue;
    LoraModule& entry = tensors.modules[std::string(module)];
    entry.*ending.matrix = name;
    entry.embedding = ending.embedding;
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<LoraTensors> SortLoraTensors(const Checkpoint& file) {
  LoraTensors tensors;
  for (const std::string& name : file.Names()) {
    absl::string_view rest = name;
    absl::ConsumePrefix(&rest, "base_model.model.");
    if (AddMatrix(name, rest, tensors)) continue;
    if (absl::ConsumeSuffix(&rest, kTrainedTokens)) {
      tensors.trained_tokens.emplace(rest, name);
      continue;
    }
    if (absl::StrContains(rest, "lora_")) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path(), ": tensor ", name,
                       ", expected lora_A, lora_B, lora_embedding_A and "
                       "lora_embedding_B of modules, or modules themselves"));
    }
    tensors.replaced.emplace(
        absl::StrReplaceAll(rest, {{".modules_to_save.default.", "."},
                                   {".modules_to_save.", "."},
                                   {".base_layer.", "."}}),
        name);
  }
  for (const auto& [module, entry] : tensors.modules) {
    if (!entry.a.empty() && !entry.b.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": module ", module, " has only one of ",
                     entry.embedding ? "lora_embedding_A and lora_embedding_B"
                                     : "lora_A and lora_B"));
  }
  return tensors;
}

}  // namespace attend
