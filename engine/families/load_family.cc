#include "engine/families/load_family.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

struct Loader {
  absl::string_view model_type;
  absl::StatusOr<Family> (*load)(const JsonFile& config);
};

constexpr Loader kFamilies[] = {
    {"bart", LoadBart},       {"bert", LoadBert},
    {"bloom", LoadBloom},     {"distilbert", LoadDistilBert},
    {"electra", LoadElectra}, {"gemma", LoadGemma},
    {"gemma2", LoadGemma2},   {"gemma3_text", LoadGemma3},
    {"gpt2", LoadGpt2},       {"gpt_neox", LoadGptNeox},
    {"llama", LoadLlama},     {"m2m_100", LoadM2m100},
    {"marian", LoadMarian},   {"mbart", LoadMbart},
    {"mistral", LoadMistral}, {"modernbert", LoadModernBert},
    {"mpnet", LoadMpnet},     {"mpt", LoadMpt},
    {"mt5", LoadMt5},         {"nomic_bert", LoadNomicBert},
    {"opt", LoadOpt},         {"pegasus", LoadPegasus},
    {"phi3", LoadPhi3},       {"qwen2", LoadQwen2},
    {"qwen3", LoadQwen3},     {"roberta", LoadRoberta},
    {"smollm3", LoadSmolLm3}, {"starcoder2", LoadStarcoder2},
    {"t5", LoadT5},           {"xlm-roberta", LoadRoberta},
};

}  // namespace

absl::StatusOr<Family> LoadFamily(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string model_type, config.String("model_type"));
  ASSIGN_OR_RETURN(const Quantization quantization, ReadQuantization(config));
  for (const Loader& family : kFamilies) {
    if (family.model_type != model_type) continue;
    ASSIGN_OR_RETURN(Family loaded, family.load(config));
    loaded.model_type = model_type;
    loaded.quantization = quantization;
    return loaded;
  }
  return config.Unexpected(
      "model_type",
      absl::StrCat("one of ",
                   absl::StrJoin(kFamilies, ", ",
                                 [](std::string* out, const Loader& family) {
                                   absl::StrAppend(out, family.model_type);
                                 })));
}

}  // namespace attend
