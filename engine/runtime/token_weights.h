#ifndef ATTEND_ENGINE_RUNTIME_TOKEN_WEIGHTS_H_
#define ATTEND_ENGINE_RUNTIME_TOKEN_WEIGHTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/families/shared/module_list.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The weights of a SparseStaticEmbedding that are a JSON object, {"token":
// weight}, rather than a tensor: idf.json. They become the tensor "weight" of
// one f32 for each token of the tokenizer, 0 for those that are not listed.
// Const; any thread may read.
class TokenWeights final : public TensorSource {
 public:
  // Returns the weights in the file that `path` of the module's config.json
  // names, relative to the module's folder or else to the model's directory;
  // null if `path` names no file that ends in ".json", as in
  // sentence-transformers. A token that the tokenizer does not have counts as
  // its unk_token. Of several weights of one id the last one counts.
  //
  // INVALID_ARGUMENT names the file, the token, and what was expected.
  static absl::StatusOr<std::unique_ptr<const TensorSource>> OpenIfNamed(
      const std::string& model_directory, const FirstModule& module,
      const Tokenizer& tokenizer);

  bool Has(absl::string_view name) const override;
  std::vector<std::string> Names() const override;
  absl::StatusOr<TensorView> Find(absl::string_view name) const override;
  void Drop(absl::Span<const uint8_t>) const override {}
  const std::string& path() const override { return path_; }

 private:
  TokenWeights(std::string path, std::vector<float> weights)
      : path_(std::move(path)), weights_(std::move(weights)) {}
  static absl::StatusOr<std::unique_ptr<const TensorSource>> Load(
      const std::string& path, const Tokenizer& tokenizer);

  const std::string path_;  // of the JSON file
  const std::vector<float> weights_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TOKEN_WEIGHTS_H_
