#include "engine/families/shared/token_heads.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "engine/families/shared/tensor_names.h"

namespace attend {
namespace {

// Returns true, and adds the slots of a layer, if its file is there.
bool AddLayer(const std::string& directory, const std::string& name,
              const std::string& slot, Family& family) {
  const std::string file = name + ".pt";
  std::error_code ignored;
  if (!std::filesystem::exists(absl::StrCat(directory, "/", file), ignored)) {
    return false;
  }
  for (const char* tensor : {"weight", "bias"}) {
    AddTensor(absl::StrCat(slot, ".", tensor),
              {absl::StrCat(name, "/", tensor)}, family.names);
  }
  family.folders.push_back(file);
  return true;
}

}  // namespace

void AddTokenHeads(const std::string& directory, Family& family) {
  EmbedSpec& embed = family.spec.embed;
  if (AddLayer(directory, "sparse_linear", "sparse.0", family)) {
    embed.sparse.emplace().layers = {
        {.out = 1, .activation = Activation::kRelu}};
    // FlagEmbedding leaves these out: begin, end, padding, unknown.
    family.weightless = {"<s>",   "</s>",  "<pad>", "<unk>",
                         "[CLS]", "[SEP]", "[PAD]", "[UNK]"};
  }
  if (AddLayer(directory, "colbert_linear", "tokens.0", family)) {
    embed.tokens.emplace().layers = {
        {.out = family.spec.hidden, .unit_length = true}};
    family.token_vectors.first = 1;  // without the token that begins a text
  }
}

}  // namespace attend
