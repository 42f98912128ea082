// Models without a transformer: a tokenizer, and a vector or a weight of each
// of its tokens.

#include <memory>
#include <string>
#include <utility>

#include "engine/checkpoint/checkpoint.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/sentence_transformers.h"
#include "engine/runtime/model_files.h"
#include "engine/runtime/token_weights.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/load_tokenizer.h"

namespace attend {
namespace {

// A weight of each token of a tokenizer: in a tensor, or listed in a JSON file.
absl::StatusOr<ModelFiles> OpenWeights(const RouteGroup& group) {
  const std::string& own = group.first.directory;
  ModelFiles files;
  ASSIGN_OR_RETURN(files.tokenizer, LoadTokenizer(own));
  ASSIGN_OR_RETURN(files.tensors,
                   TokenWeights::OpenIfNamed(group.directory, group.first,
                                             *files.tokenizer));
  if (files.tensors == nullptr) {
    ASSIGN_OR_RETURN(Checkpoint table, Checkpoint::Open(own));
    files.tensors = std::make_unique<const Checkpoint>(std::move(table));
  }
  ASSIGN_OR_RETURN(files.family, LoadSparseStaticEmbedding(*files.tensors));
  RETURN_IF_ERROR(ReadSentenceTransformers(group, files.family));
  RETURN_IF_ERROR(CheckVocabularies(*files.tokenizer, files.family.spec));
  return files;
}

// A table of vectors of a tokenizer's tokens.
absl::StatusOr<ModelFiles> OpenVectors(const RouteGroup& group) {
  const FirstModule& first = group.first;
  ModelFiles files;
  ASSIGN_OR_RETURN(const Checkpoint table, Checkpoint::Open(first.directory));
  ASSIGN_OR_RETURN(files.family, LoadStaticEmbedding(table));
  RETURN_IF_ERROR(ReadSentenceTransformers(group, files.family));
  ASSIGN_OR_RETURN(files.tokenizer, LoadTokenizer(first.directory));
  RETURN_IF_ERROR(CheckVocabularies(*files.tokenizer, files.family.spec));
  ASSIGN_OR_RETURN(
      Checkpoint checkpoint,
      Checkpoint::Open(group.directory, files.family.folders, first.folder));
  files.tensors = std::make_unique<const Checkpoint>(std::move(checkpoint));
  return files;
}

}  // namespace

absl::StatusOr<ModelFiles> OpenStatic(const RouteGroup& group) {
  return group.first.kind == FirstModule::Kind::kStatic ? OpenVectors(group)
                                                        : OpenWeights(group);
}

}  // namespace attend
