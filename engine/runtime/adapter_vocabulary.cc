#include "engine/runtime/adapter_vocabulary.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "engine/families/shared/config_fields.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/load_tokenizer.h"

namespace attend {
namespace {

// The rows of the table in a slot, if the adapter has it as a whole; else 0.
absl::StatusOr<int64_t> RowsOf(const LoraSource& merged, const NameTable& names,
                               const std::string& slot) {
  for (const NameRow& row : names.rows) {
    if (row.slot != slot) continue;
    for (const std::string& tensor : row.tensors) {
      if (!merged.Has(tensor)) continue;
      if (!merged.Replaces(tensor)) return 0;
      ASSIGN_OR_RETURN(const TensorView view, merged.Find(tensor));
      return view.shape.size() == 2 ? view.shape[0] : 0;
    }
  }
  return 0;
}

}  // namespace

absl::StatusOr<bool> GrowVocabulary(const LoraSource& merged, Family& family) {
  bool grown = false;
  const auto grow = [&](const char* slot, auto& stack) -> absl::Status {
    if (!stack) return absl::OkStatus();
    ASSIGN_OR_RETURN(const int64_t rows, RowsOf(merged, family.names, slot));
    int& vocab = stack->embedding.vocab;
    if (rows <= vocab || rows > kVocab.max) return absl::OkStatus();
    vocab = static_cast<int>(rows);
    grown = true;
    return absl::OkStatus();
  };
  TransformerSpec& spec = family.spec;
  RETURN_IF_ERROR(grow("encoder.embedding.tokens", spec.encoder));
  RETURN_IF_ERROR(grow("decoder.embedding.tokens", spec.decoder));
  return grown;
}

absl::Status TakeTokenizer(const std::string& adapter, ModelFiles& files) {
  std::error_code ignored;
  if (std::filesystem::exists(adapter + "/tokenizer_config.json", ignored)) {
    const Family& family = files.family;
    ASSIGN_OR_RETURN(files.tokenizer,
                     LoadTokenizer(adapter, {.lower_case = family.lower_case,
                                             .prefixes = family.prefixes}));
    ASSIGN_OR_RETURN(std::unique_ptr<ChatTemplate> chat,
                     ChatTemplate::Load(adapter));
    if (chat != nullptr && !family.spec.encoder) files.chat = std::move(chat);
  }
  return CheckVocabularies(*files.tokenizer, files.family.spec);
}

}  // namespace attend
