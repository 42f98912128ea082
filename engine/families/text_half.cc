// The language models of models that see: LLaVA, Gemma 3, Mistral Small 3.1,
// Qwen2-VL to Qwen3-VL. They read texts alone.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// A language model by its model_type: the family, and the fields of its
// configuration whose defaults are not those of the family. Such files leave
// out what is a default.
struct TextType {
  absl::string_view model_type;
  const char* family;
  const char* defaults;
};

constexpr char kQwen2Defaults[] =
    R"({"vocab_size": 152064, "hidden_size": 8192, "intermediate_size": 29568,
        "num_hidden_layers": 80, "num_attention_heads": 64,
        "num_key_value_heads": 8, "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-5, "max_window_layers": 80, "rope_theta": 1e6})";

constexpr TextType kTextTypes[] = {
    {"gemma3_text", "gemma3_text",
     R"({"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216,
         "num_hidden_layers": 26, "num_attention_heads": 8,
         "max_position_embeddings": 131072})"},
    {"llama", "llama",
     R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
         "num_hidden_layers": 32, "num_attention_heads": 32,
         "max_position_embeddings": 2048})"},
    {"ministral3", "ministral3", "{}"},
    {"mistral", "mistral",
     R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
         "num_hidden_layers": 32, "num_attention_heads": 32,
         "max_position_embeddings": 131072})"},
    {"qwen2", "qwen2",
     R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
         "num_hidden_layers": 32, "num_attention_heads": 32,
         "max_position_embeddings": 32768})"},
    {"qwen2_vl_text", "qwen2", kQwen2Defaults},
    {"qwen2_5_vl_text", "qwen2", kQwen2Defaults},
    {"qwen3_vl_text", "qwen3",
     R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
         "num_hidden_layers": 32, "num_attention_heads": 32,
         "max_position_embeddings": 128000, "rope_theta": 5e5})"},
};

// A model that sees.
struct Model {
  const char* architecture;
  const char* text_type;  // where text_config has no model_type
  bool tied = false;      // by default
};

// config.json of the language model. The first files of Qwen2-VL have its
// fields at the top.
absl::StatusOr<JsonFile> TextConfig(const JsonFile& config) {
  if (config.Has("text_config")) return config.Object("text_config");
  return config;
}

absl::StatusOr<const TextType*> TypeOf(const JsonFile& text,
                                       const Model& model) {
  constexpr char kKey[] = "model_type";
  ASSIGN_OR_RETURN(std::string name, text.StringOr(kKey, model.text_type));
  // Files at whose top the fields are.
  if (absl::StrCat(name, "_text") == model.text_type) name = model.text_type;
  for (const TextType& type : kTextTypes) {
    if (type.model_type == name) return &type;
  }
  std::string names;
  for (const TextType& type : kTextTypes) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", type.model_type);
  }
  return text.Unexpected(kKey, absl::StrCat("one of ", names));
}

absl::StatusOr<Family> LoadText(const JsonFile& config, const JsonFile& text,
                                const Model& model) {
  ASSIGN_OR_RETURN(const TextType* type, TypeOf(text, model));
  ASSIGN_OR_RETURN(const bool tied,
                   config.BoolOr("tie_word_embeddings", model.tied));
  ASSIGN_OR_RETURN(const bool text_tied,
                   text.BoolOr("tie_word_embeddings", false));
  ASSIGN_OR_RETURN(
      const JsonFile changes,
      JsonFile::Parse(
          text.path(),
          absl::StrFormat(R"({"model_type": "%s", "architectures": [],
                              "tie_word_embeddings": %s})",
                          type->family, tied || text_tied ? "true" : "false")));
  ASSIGN_OR_RETURN(const JsonFile defaults,
                   JsonFile::Parse(text.path(), type->defaults));
  return LoadFamily(changes.WithFallback(text).WithFallback(defaults));
}

// Programs differ in what they put before the names of the language model.
void AddNamesInWhole(std::vector<std::string>& tensors) {
  std::vector<std::string> whole;
  for (const std::string& tensor : tensors) {
    absl::string_view rest = tensor;
    if (absl::ConsumePrefix(&rest, "model.")) {
      whole.push_back(absl::StrCat("model.language_model.", rest));
      whole.push_back(absl::StrCat("language_model.model.", rest));
    } else if (absl::StartsWith(rest, "lm_head.")) {
      whole.push_back(absl::StrCat("language_model.", rest));
    }
  }
  tensors.insert(tensors.end(), whole.begin(), whole.end());
}

absl::StatusOr<Family> TextHalf(const JsonFile& config, const Model& model) {
  RETURN_IF_ERROR(Architecture(config, {model.architecture}).status());
  RETURN_IF_ERROR(
      ExpectFlags(config, {"is_decoder", "is_encoder_decoder"}, false));
  ASSIGN_OR_RETURN(const JsonFile text, TextConfig(config));
  ASSIGN_OR_RETURN(Family family, LoadText(config, text, model));
  for (NameRow& row : family.names.rows) AddNamesInWhole(row.tensors);
  AddNamesInWhole(family.names.unused);
  for (const char* part : {"vision_tower.*", "multi_modal_projector.*",
                           "visual.*", "image_newline"}) {
    family.names.skipped.push_back(part);
    family.names.skipped.push_back(absl::StrCat("model.", part));
  }
  return family;
}

}  // namespace

absl::StatusOr<Family> LoadGemma3Text(const JsonFile& config) {
  return TextHalf(config, {.architecture = "Gemma3ForConditionalGeneration",
                           .text_type = "gemma3_text",
                           .tied = true});
}

absl::StatusOr<Family> LoadLlava(const JsonFile& config) {
  return TextHalf(config, {.architecture = "LlavaForConditionalGeneration",
                           .text_type = "llama"});
}

absl::StatusOr<Family> LoadMistral3(const JsonFile& config) {
  return TextHalf(config, {.architecture = "Mistral3ForConditionalGeneration",
                           .text_type = "mistral",
                           .tied = true});
}

absl::StatusOr<Family> LoadQwen2Vl(const JsonFile& config) {
  return TextHalf(config, {.architecture = "Qwen2VLForConditionalGeneration",
                           .text_type = "qwen2_vl_text"});
}

absl::StatusOr<Family> LoadQwen25Vl(const JsonFile& config) {
  return TextHalf(config, {.architecture = "Qwen2_5_VLForConditionalGeneration",
                           .text_type = "qwen2_5_vl_text"});
}

absl::StatusOr<Family> LoadQwen3Vl(const JsonFile& config) {
  return TextHalf(config, {.architecture = "Qwen3VLForConditionalGeneration",
                           .text_type = "qwen3_vl_text"});
}

}  // namespace attend
