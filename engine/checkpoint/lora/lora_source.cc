#include "engine/checkpoint/lora/lora_source.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/checkpoint/name_pattern.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr const char* kFiles[] = {"adapter_model.safetensors",
                                  "adapter_model.bin"};

constexpr int64_t kMaxSide = int64_t{1} << 30;

absl::StatusOr<Checkpoint> OpenFile(const std::string& directory) {
  for (const char* file : kFiles) {
    const std::string path = absl::StrCat(directory, "/", file);
    if (access(path.c_str(), F_OK) == 0) return Checkpoint::OpenFile(path);
  }
  return absl::NotFoundError(absl::StrCat(directory, ": has ", kLoraConfigFile,
                                          " but neither ", kFiles[0], " nor ",
                                          kFiles[1]));
}

// The first row that reads a tensor; null if none does.
const NameRow* RowOf(const NameTable& names, absl::string_view tensor) {
  for (const NameRow& row : names.rows) {
    for (const std::string& pattern : row.tensors) {
      if (MatchPattern(pattern, tensor)) return &row;
    }
  }
  return nullptr;
}

// A matrix of the adapter, in f32 and checked to be finite.
absl::StatusOr<Buffer<float>> ReadMatrix(const TensorView& view) {
  const auto fits = [](int64_t side) { return side > 0 && side <= kMaxSide; };
  if (view.shape.size() != 2 || view.rows != nullptr || !fits(view.shape[0]) ||
      !fits(view.shape[1])) {
    return absl::InvalidArgumentError(absl::StrCat(
        view.place, " has shape ", ShapeText(view.shape),
        ", expected a matrix of 1 to ", kMaxSide, " rows and columns"));
  }
  if (FindNotFinite(view.type, view.bytes) != view.count()) {
    return absl::InvalidArgumentError(
        absl::StrCat(view.place, " holds values that are not finite"));
  }
  Buffer<float> stored(view.count());
  ToFloats(view.type, view.bytes.data(), {stored.data(), stored.size()});
  if (!view.column_major) return stored;
  const size_t rows = static_cast<size_t>(view.shape[0]);
  const size_t cols = static_cast<size_t>(view.shape[1]);
  Buffer<float> matrix(view.count());
  for (size_t i = 0; i < view.count(); ++i) {
    matrix[i % rows * cols + i / rows] = stored[i];
  }
  return matrix;
}

Buffer<float> Transposed(const Buffer<float>& matrix, size_t rows,
                         size_t cols) {
  Buffer<float> turned(matrix.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t col = 0; col < cols; ++col) {
      turned[col * rows + row] = matrix[row * cols + col];
    }
  }
  return turned;
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
  for (const auto& [name, stored] : tensors.replaced) {
    ASSIGN_OR_RETURN(std::string tensor, source->Resolve(names, name));
    source->replaced_.emplace(std::move(tensor), stored);
  }
  for (const auto& [module, entry] : tensors.modules) {
    RETURN_IF_ERROR(source->AddModule(config, names, module, entry));
  }
  return source;
}

absl::StatusOr<std::string> LoraSource::Resolve(const NameTable& names,
                                                const std::string& name) const {
  // A file of the bare model has no prefix where a class with a head has one,
  // and the other way round.
  std::vector<std::string> candidates = {name};
  for (int i = 0; i < 2; ++i) {
    const size_t dot = candidates.back().find('.');
    if (dot == std::string::npos) break;
    candidates.push_back(candidates.back().substr(dot + 1));
  }
  for (const std::string& candidate : candidates) {
    if (base_->Has(candidate) && RowOf(names, candidate) != nullptr) {
      RETURN_IF_ERROR(CheckNotTied(names, candidate));
      return candidate;
    }
  }
  for (const std::string& stored : base_->Names()) {
    if (absl::EndsWith(stored, "." + name) && RowOf(names, stored) != nullptr) {
      RETURN_IF_ERROR(CheckNotTied(names, stored));
      return stored;
    }
  }
  for (const std::string& candidate : candidates) {
    if (RowOf(names, candidate) != nullptr) return candidate;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(file_.path(), ": changes ", name, ", which is not part of ",
                   "the model in ", base_->path()));
}

absl::Status LoraSource::CheckNotTied(const NameTable& names,
                                      const std::string& name) const {
  std::set<std::string> slots;
  for (const NameRow& row : names.rows) {
    if (row.slices != TensorSlices{.transposed = row.slices.transposed}) {
      continue;
    }
    for (const std::string& pattern : row.tensors) {
      const auto layer = MatchPattern(pattern, name);
      if (layer) slots.insert(row.slot);
      if (layer || base_->Has(pattern)) break;
    }
  }
  if (slots.size() < 2) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file_.path(), ": changes ", name, ", which the model has as ",
      *slots.begin(), " and ", *std::next(slots.begin()),
      ", which are tied; merge the adapter into the model with "
      "merge_and_unload() of peft"));
}

absl::Status LoraSource::AddModule(const LoraConfig& config,
                                   const NameTable& names,
                                   const std::string& module,
                                   const LoraModule& entry) {
  ASSIGN_OR_RETURN(const std::string name, Resolve(names, module + ".weight"));
  ASSIGN_OR_RETURN(const TensorView base, FindUnchanged(name));
  ASSIGN_OR_RETURN(const TensorView a, file_.Find(entry.a));
  ASSIGN_OR_RETURN(const TensorView b, file_.Find(entry.b));
  ASSIGN_OR_RETURN(Buffer<float> right, ReadMatrix(a));
  ASSIGN_OR_RETURN(Buffer<float> left, ReadMatrix(b));
  const int64_t rank = a.shape[0];
  // A linear layer is [out, in], but in GPT-2; an embedding is [in, out].
  const bool turned = entry.embedding || RowOf(names, name)->slices.transposed;
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
