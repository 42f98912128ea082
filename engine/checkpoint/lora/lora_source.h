#ifndef ATTEND_ENGINE_CHECKPOINT_LORA_LORA_SOURCE_H_
#define ATTEND_ENGINE_CHECKPOINT_LORA_LORA_SOURCE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/lora/lora_config.h"
#include "engine/checkpoint/lora/lora_rows.h"
#include "engine/checkpoint/lora/lora_tensors.h"
#include "engine/checkpoint/lora/token_rows.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/checkpoint/weights.h"

namespace attend {

// The tensors of a model with a LoRA adapter merged into them, as peft's
// merge_and_unload() does: W + scale * B A, modules that the adapter has as a
// whole, and rows of tokens. Products are added while rows are read, so
// quantisation comes after them. Const after Open(); any thread may read.
class LoraSource final : public TensorSource {
 public:
  // `directory` is the adapter's; `names` says which tensors of `base` the
  // model reads. Errors name the adapter's file, and the field or module.
  static absl::StatusOr<std::unique_ptr<const LoraSource>> Open(
      const std::string& directory, const NameTable& names,
      std::unique_ptr<const TensorSource> base);

  bool Has(absl::string_view name) const override;
  std::vector<std::string> Names() const override;
  absl::StatusOr<TensorView> Find(absl::string_view name) const override;
  void Drop(absl::Span<const uint8_t> bytes) const override;
  absl::Status CheckUnchanged() const override;
  const std::string& path() const override { return base_->path(); }
  // Returns true if the adapter has this tensor as a whole.
  bool Replaces(absl::string_view name) const;

 private:
  struct Change {
    std::shared_ptr<const LoraProduct> product;
    bool turned = false;  // the model's tensor is [in, out]
  };

  LoraSource(std::unique_ptr<const TensorSource> base, Checkpoint file)
      : base_(std::move(base)), file_(std::move(file)) {}

  // The name in the model of what the adapter calls `name`. INVALID_ARGUMENT if
  // the model reads no such tensor, or reads it as several that are tied.
  absl::StatusOr<std::string> Resolve(const NameTable& names,
                                      const std::string& name) const;
  // The same for a table of tokens, of which some rows change. INVALID_ARGUMENT
  // if something is tied to the table that the model has as another tensor.
  absl::StatusOr<std::string> ResolveTable(const NameTable& names,
                                           const std::string& name) const;
  // A tensor before a product is added to it.
  absl::StatusOr<TensorView> FindUnchanged(absl::string_view name) const;
  absl::Status CheckNotTied(const NameTable& names,
                            const std::string& name) const;
  absl::Status AddModule(const LoraConfig& config, const NameTable& names,
                         const std::string& module, const LoraModule& entry);
  // Replaces rows of the table of `module` by those of tensor `stored`.
  absl::Status AddTokens(const LoraConfig& config, const NameTable& names,
                         const std::string& module, const std::string& stored);

  std::unique_ptr<const TensorSource> base_;
  Checkpoint file_;
  std::map<std::string, Change, std::less<>> changes_;
  std::map<std::string, std::string, std::less<>> replaced_;
  std::map<std::string, std::string> given_;  // as in LoraTensors::replaced
  std::map<std::string, std::shared_ptr<const TrainedTokens>, std::less<>>
      tokens_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_LORA_LORA_SOURCE_H_
