#include "engine/checkpoint/lora/lora_source.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/checkpoint/lora/adapter_matrix.h"
#include "engine/checkpoint/lora/resolve_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr const char* kFiles[] = {"adapter_model.safetensors",
                                  "adapter_model.bin"};

absl::StatusOr<Checkpoint> OpenFile(const std::string& directory) {
  for (const char* file : kFiles) {
    const std::string path = absl::StrCat(directory, "/", file);
    if (access(path.c_str(), F_OK) == 0) return Checkpoint::OpenFile(path);
  }
  return absl::NotFoundError(absl::StrCat(directory, ": has ", kLoraConfigFile,
                                          " but neither ", kFiles[0], " nor ",
                                          kFiles[1]));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const LoraSource>> LoraSource::Open(
    const std::string& directory, const NameTable& names,
    std::unique_ptr<const TensorSource> base) {
  ASSIGN_OR_RETURN(const JsonFile json, JsonFile::Load(absl::StrCat(
                                            directory, "/", kLoraConfigFile)));
  ASSIGN_OR_RETURN(const LoraConfig config, ReadLoraConfig(json));
  ASSIGN_OR_RETURN(Checkpoint file, OpenFile(directory));
  ASSIGN_OR_RETURN(const LoraTensors tensors, SortLoraTensors(file));
  std::unique_ptr<LoraSource> source(
      new LoraSource(std::move(base), std::move(file)));
  source->given_ = tensors.replaced;
  for (const auto& [name, stored] : tensors.replaced) {
    ASSIGN_OR_RETURN(std::string tensor, source->Resolve(names, name));
    source->replaced_.emplace(std::move(tensor), stored);
  }
  for (const auto& [module, entry] : tensors.modules) {
    RETURN_IF_ERROR(source->AddModule(config, names, module, entry));
  }
  if (!config.trained_tokens.empty() && tensors.trained_tokens.empty()) {
    return json.Unexpected("trainable_token_indices",
                           "none without a tensor trainable_tokens_delta");
  }
  for (const auto& [module, stored] : tensors.trained_tokens) {
    RETURN_IF_ERROR(source->AddTokens(config, names, module, stored));
  }
  return source;
}

absl::Status LoraSource::AddModule(const LoraConfig& config,
                                   const NameTable& names,
                                   const std::string& module,
                                   const LoraModule& entry) {
  ASSIGN_OR_RETURN(const std::string name, Resolve(names, module + ".weight"));
  ASSIGN_OR_RETURN(const TensorView base, FindUnchanged(name));
  ASSIGN_OR_RETURN(const TensorView a, file_.Find(entry.a));
  ASSIGN_OR_RETURN(const TensorView b, file_.Find(entry.b));
  ASSIGN_OR_RETURN(Buffer<float> right, ReadAdapterMatrix(a));
  ASSIGN_OR_RETURN(Buffer<float> left, ReadAdapterMatrix(b));
  const int64_t rank = a.shape[0];
  // A linear layer is [out, in], but in GPT-2; an embedding is [in, out].
  const bool turned =
      entry.embedding || RowThatReads(names, name)->slices.transposed;
  const std::vector<int64_t> shape =
      turned ? std::vector<int64_t>{a.shape[1], b.shape[0]}
             : std::vector<int64_t>{b.shape[0], a.shape[1]};
  if (b.shape[1] != rank || base.shape != shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        b.place, " has shape ", ShapeText(b.shape), " and lora_A ",
        ShapeText(a.shape), ", expected matrices whose product fits ", name,
        " of shape ", ShapeText(base.shape)));
  }
  if (base.rows == nullptr &&
      FindNotFinite(base.type, base.bytes) != base.count()) {
    return absl::InvalidArgumentError(
        absl::StrCat(base.place, " holds values that are not finite"));
  }
  for (const auto& [other, change] : changes_) {
    ASSIGN_OR_RETURN(const TensorView same, FindUnchanged(other));
    if (same.bytes.data() != base.bytes.data()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        file_.path(), ": changes ", name, " and ", other, ", which are tied"));
  }
  const float scale =
      static_cast<float>(config.Scale(module, static_cast<int>(rank)));
  for (size_t i = 0; i < left.size(); ++i) left[i] *= scale;
  auto product = std::make_shared<LoraProduct>();
  product->rank = static_cast<int>(rank);
  if (entry.embedding) {
    product->left = Transposed(right, rank, a.shape[1]);
    product->right = Transposed(left, b.shape[0], rank);
  } else {
    product->left = std::move(left);
    product->right = std::move(right);
  }
  changes_[name] = {.product = std::move(product),
                    .turned = turned && !entry.embedding};
  return absl::OkStatus();
}

absl::Status LoraSource::AddTokens(const LoraConfig& config,
                                   const NameTable& names,
                                   const std::string& module,
                                   const std::string& stored) {
  ASSIGN_OR_RETURN(const TensorView view, file_.Find(stored));
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(view.place, " ", what));
  };
  const std::vector<int>* const ids = config.TrainedTokens(module);
  if (ids == nullptr) return error("is of no trainable_token_indices");
  ASSIGN_OR_RETURN(const std::string name,
                   ResolveTable(names, module + ".weight"));
  ASSIGN_OR_RETURN(const TensorView base, FindUnchanged(name));
  auto trained = std::make_shared<TrainedTokens>();
  ASSIGN_OR_RETURN(trained->values, ReadAdapterMatrix(view));
  if (base.shape.size() != 2 || base.column_major ||
      changes_.find(name) != changes_.end()) {
    return error(
        absl::StrCat("changes ", name, ", which is no plain table of tokens"));
  }
  const int64_t rows = static_cast<int64_t>(ids->size());
  if (view.shape != std::vector<int64_t>{rows, base.shape[1]}) {
    return error(absl::StrCat("has shape ", ShapeText(view.shape),
                              ", expected a row of ", base.shape[1],
                              " for each of ", rows, " tokens"));
  }
  for (size_t i = 0; i < ids->size(); ++i) {
    if ((*ids)[i] >= base.shape[0]) {
      return error(absl::StrCat("is of token ", (*ids)[i], ", the model has ",
                                base.shape[0]));
    }
    trained->rows[(*ids)[i]] = static_cast<int>(i);
  }
  if (base.rows == nullptr &&
      FindNotFinite(base.type, base.bytes) != base.count()) {
    return absl::InvalidArgumentError(
        absl::StrCat(base.place, " holds values that are not finite"));
  }
  tokens_[name] = std::move(trained);
  return absl::OkStatus();
}

bool LoraSource::Replaces(absl::string_view name) const {
  return replaced_.find(name) != replaced_.end();
}

bool LoraSource::Has(absl::string_view name) const {
  return base_->Has(name) || replaced_.find(name) != replaced_.end();
}

std::vector<std::string> LoraSource::Names() const {
  std::vector<std::string> names = base_->Names();
  for (const auto& [name, stored] : replaced_) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

absl::StatusOr<TensorView> LoraSource::FindUnchanged(
    absl::string_view name) const {
  const auto replaced = replaced_.find(name);
  return replaced == replaced_.end() ? base_->Find(name)
                                     : file_.Find(replaced->second);
}

absl::StatusOr<TensorView> LoraSource::Find(absl::string_view name) const {
  ASSIGN_OR_RETURN(TensorView view, FindUnchanged(name));
  if (const auto tokens = tokens_.find(name); tokens != tokens_.end()) {
    view.rows = std::make_shared<const TokenRows>(view, tokens->second);
    view.type = StorageType::kF32;
    return view;
  }
  const auto change = changes_.find(name);
  if (change == changes_.end()) return view;
  const auto& [product, turned] = change->second;
  if (view.rows != nullptr && turned) {
    return absl::InvalidArgumentError(
        absl::StrCat(view.place, " is quantised, expected plain numbers"));
  }
  view.rows = std::make_shared<const LoraRows>(view, turned, product);
  view.type = StorageType::kF32;
  view.column_major = turned;
  return view;
}

void LoraSource::Drop(absl::Span<const uint8_t> bytes) const {
  base_->Drop(bytes);
}

absl::Status LoraSource::CheckUnchanged() const {
  RETURN_IF_ERROR(file_.CheckUnchanged());
  return base_->CheckUnchanged();
}

}  // namespace attend
