#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Texts have no longest length of their own. Memory is reserved for one of this
// many tokens.
constexpr int kMaxTokens = 1 << 15;

// The names of sentence-transformers and of model2vec.
constexpr const char* kTables[] = {"embedding.weight", "embeddings"};

// A table of vectors of `width` numbers, in a tensor of that name.
Family TableOf(const char* tensor, int vocab, int width) {
  Family family;
  family.model_type = "static_embedding";
  family.spec.hidden = width;
  EmbeddingSpec& embedding = family.spec.encoder.emplace().embedding;
  embedding.vocab = vocab;
  embedding.width = width;
  embedding.positions = Positions::kNone;
  embedding.max_positions = kMaxTokens;
  family.adds_special = false;
  AddTensor("encoder.embedding.tokens", {tensor}, family.names);
  return family;
}

}  // namespace

absl::StatusOr<Family> LoadStaticEmbedding(const TensorSource& tensors) {
  const auto table =
      std::find_if(std::begin(kTables), std::end(kTables),
                   [&](const char* name) { return tensors.Has(name); });
  if (table == std::end(kTables)) {
    return absl::InvalidArgumentError(
        absl::StrCat(tensors.path(),
                     ": a StaticEmbedding has a tensor embedding.weight or "
                     "embeddings, but there is none"));
  }
  for (const char* name : {"mapping", "weights"}) {
    if (!tensors.Has(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(tensors.path(), ": tensor ", name,
                     " is not supported: tokens that share vectors"));
  }
  ASSIGN_OR_RETURN(const TensorView view, tensors.Find(*table));
  if (view.shape.size() != 2 || view.shape[0] < 1 ||
      view.shape[0] > kVocab.max || view.shape[1] < kHidden.min ||
      view.shape[1] > kHidden.max) {
    return absl::InvalidArgumentError(absl::StrCat(
        view.place, " has another shape than [tokens, numbers of a vector]"));
  }
  return TableOf(*table, static_cast<int>(view.shape[0]),
                 static_cast<int>(view.shape[1]));
}

absl::StatusOr<Family> LoadSparseStaticEmbedding(const TensorSource& tensors) {
  ASSIGN_OR_RETURN(const TensorView view, tensors.Find("weight"));
  if (view.shape.size() != 1 || view.shape[0] < 1 ||
      view.shape[0] > kVocab.max) {
    return absl::InvalidArgumentError(
        absl::StrCat(view.place, " has another shape than [tokens]"));
  }
  Family family = TableOf("weight", static_cast<int>(view.shape[0]), 1);
  EmbedSpec& embed = family.spec.embed;
  embed.pooled = false;
  embed.sparse.emplace().layers = {{.out = 1, .linear = false}};
  return family;
}

}  // namespace attend
