#include "engine/checkpoint/ctranslate2/ct2_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/checkpoint/scaled_rows.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr absl::string_view kScale = "_scale";

std::optional<StorageType> FloatType(Ct2Type type) {
  switch (type) {
    case Ct2Type::kFloat32:
      return StorageType::kF32;
    case Ct2Type::kFloat16:
      return StorageType::kF16;
    case Ct2Type::kBfloat16:
      return StorageType::kBf16;
    default:
      return std::nullopt;
  }
}

const char* NameOf(Ct2Type type) {
  constexpr const char* kNames[] = {"float32", "int8",    "int16",
                                    "int32",   "float16", "bfloat16"};
  return kNames[static_cast<int>(type)];
}

template <typename T>
double As(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<double>(value);
}

double ValueOf(Ct2Type type, const uint8_t* bytes) {
  if (const auto storage = FloatType(type)) {
    float value = 0;
    ToFloats(*storage, bytes, {&value, 1});
    return value;
  }
  if (type == Ct2Type::kInt8) return As<int8_t>(bytes);
  return type == Ct2Type::kInt16 ? As<int16_t>(bytes) : As<int32_t>(bytes);
}

}  // namespace

absl::StatusOr<Ct2Model> Ct2Model::Open(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<MappedFile> file, MappedFile::Open(path));
  ASSIGN_OR_RETURN(ModelBin model, ReadModelBin(path, file->bytes()));
  return Ct2Model(std::move(file), std::move(model));
}

Ct2Model::Ct2Model(std::unique_ptr<MappedFile> file, ModelBin model)
    : file_(std::move(file)), model_(std::move(model)) {}

absl::string_view Ct2Model::Resolve(absl::string_view name) const {
  const auto alias = model_.aliases.find(name);
  return alias == model_.aliases.end() ? name
                                       : absl::string_view(alias->second);
}

absl::Span<const uint8_t> Ct2Model::BytesOfVariable(
    const Ct2Variable& variable) const {
  return file_->bytes().subspan(variable.begin, variable.end - variable.begin);
}

bool Ct2Model::Has(absl::string_view name) const {
  const auto found = model_.variables.find(Resolve(name));
  return found != model_.variables.end() && !found->second.shape.empty();
}

std::vector<std::string> Ct2Model::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, variable] : model_.variables) {
    const bool scale =
        absl::EndsWith(name, kScale) &&
        model_.variables.count(name.substr(0, name.size() - kScale.size())) > 0;
    if (!variable.shape.empty() && !scale) names.push_back(name);
  }
  for (const auto& [name, variable] : model_.aliases) {
    if (Has(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<std::vector<float>> Ct2Model::Scales(const std::string& place,
                                                    absl::string_view name,
                                                    int64_t rows) const {
  const auto found = model_.variables.find(absl::StrCat(name, kScale));
  if (found == model_.variables.end() ||
      found->second.type != Ct2Type::kFloat32 ||
      found->second.shape != std::vector<int64_t>{rows}) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, " is int8, expected ", name, kScale,
                     " with a float32 for each of its ", rows, " rows"));
  }
  std::vector<float> factors(rows);
  ToFloats(StorageType::kF32, BytesOfVariable(found->second).data(),
           absl::MakeSpan(factors));
  for (float& factor : factors) {
    const float scale = factor;
    factor = 1 / scale;
    if (std::isfinite(scale) && std::isfinite(factor * 128)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(place, kScale, " holds ", scale,
                     ", expected finite values, and not 0"));
  }
  return factors;
}

absl::StatusOr<TensorView> Ct2Model::Find(absl::string_view name) const {
  const absl::string_view variable = Resolve(name);
  const auto found = model_.variables.find(variable);
  if (found == model_.variables.end() || found->second.shape.empty()) {
    return absl::NotFoundError(absl::StrCat(path(), ": no variable ", name));
  }
  const Ct2Variable& stored = found->second;
  TensorView view = {.shape = stored.shape,
                     .bytes = BytesOfVariable(stored),
                     .place = absl::StrCat(path(), ": variable ", name)};
  if (const auto type = FloatType(stored.type)) {
    view.type = *type;
    return view;
  }
  constexpr int64_t kMost = int64_t{1} << 30;  // of rows, and of columns
  if (stored.type != Ct2Type::kInt8 || stored.shape.size() != 2 ||
      stored.shape[0] > kMost || stored.shape[1] > kMost) {
    return absl::InvalidArgumentError(absl::StrCat(
        view.place, " has type ", NameOf(stored.type), " and shape ",
        ShapeText(stored.shape),
        ", expected float32, float16, bfloat16, or a matrix of int8"));
  }
  ASSIGN_OR_RETURN(std::vector<float> scales,
                   Scales(view.place, variable, stored.shape[0]));
  view.rows = std::make_shared<const ScaledRows>(view.bytes, std::move(scales));
  return view;
}

void Ct2Model::Drop(absl::Span<const uint8_t> bytes) const {
  MappedFile::Drop(bytes);
}

absl::Status Ct2Model::CheckUnchanged() const {
  return file_->CheckUnchanged();
}

std::optional<double> Ct2Model::Attribute(absl::string_view name) const {
  const auto found = model_.variables.find(name);
  if (found == model_.variables.end() || !found->second.shape.empty()) {
    return std::nullopt;
  }
  return ValueOf(found->second.type, BytesOfVariable(found->second).data());
}

bool Ct2Model::IsFloat(absl::string_view name) const {
  const auto found = model_.variables.find(name);
  return found != model_.variables.end() && found->second.shape.empty() &&
         FloatType(found->second.type).has_value();
}

std::vector<std::string> Ct2Model::Attributes() const {
  std::vector<std::string> names;
  for (const auto& [name, variable] : model_.variables) {
    if (variable.shape.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace attend
