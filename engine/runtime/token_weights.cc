#include "engine/runtime/token_weights.h"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/families/shared/config_fields.h"
#include "engine/json/json_file.h"
#include "engine/json/number_members.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr char kTensor[] = "weight";

// Returns the path of the file that a module names; "": it names none.
absl::StatusOr<std::string> FileOf(const std::string& model_directory,
                                   const FirstModule& module) {
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::LoadOrEmpty(module.directory + "/config.json"));
  ASSIGN_OR_RETURN(const std::string name, config.StringOr("path", ""));
  if (!absl::EndsWith(name, ".json")) return "";
  // Files outside of the directory are none of the model's.
  if (!IsPathInside(name)) {
    return config.Unexpected("path", "a file in the model's directory");
  }
  for (const std::string& folder : {module.directory, model_directory}) {
    const std::string path = absl::StrCat(folder, "/", name);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return config.Unexpected(
      "path", absl::StrCat("a file in ", module.directory,
                           module.directory == model_directory
                               ? ""
                               : absl::StrCat(" or in ", model_directory)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const TensorSource>> TokenWeights::OpenIfNamed(
    const std::string& model_directory, const FirstModule& module,
    const Tokenizer& tokenizer) {
  ASSIGN_OR_RETURN(const std::string path, FileOf(model_directory, module));
  if (path.empty()) return nullptr;
  return Load(path, tokenizer);
}

absl::StatusOr<std::unique_ptr<const TensorSource>> TokenWeights::Load(
    const std::string& path, const Tokenizer& tokenizer) {
  std::vector<float> weights(tokenizer.vocab_size(Side::kSource));
  bool empty = true;
  const auto take = [&](const std::string& token, float weight) {
    int id = tokenizer.TokenId(token, Side::kSource);
    if (id < 0) id = tokenizer.unk_id();
    if (id < 0 || id >= static_cast<int>(weights.size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          MemberText(path, token),
          " is not in the vocabulary of the tokenizer, which has no unk_token "
          "for it"));
    }
    weights[id] = weight;
    empty = false;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ReadNumberMembers(path, kVocab.max, take));
  if (empty) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has no weight, expected one of each token"));
  }
  return std::unique_ptr<const TensorSource>(
      new TokenWeights(path, std::move(weights)));
}

bool TokenWeights::Has(absl::string_view name) const { return name == kTensor; }

std::vector<std::string> TokenWeights::Names() const { return {kTensor}; }

absl::StatusOr<TensorView> TokenWeights::Find(absl::string_view name) const {
  if (!Has(name)) {
    return absl::NotFoundError(
        absl::StrCat(path_, ": there is no tensor ", name));
  }
  return TensorView{.type = StorageType::kF32,
                    .shape = {static_cast<int64_t>(weights_.size())},
                    .bytes = {reinterpret_cast<const uint8_t*>(weights_.data()),
                              weights_.size() * sizeof(float)},
                    .place = path_};
}

}  // namespace attend
