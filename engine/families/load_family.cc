#include "engine/families/load_family.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/extra_tensors.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

struct Loader {
  absl::string_view model_type;
  absl::StatusOr<Family> (*load)(const JsonFile& config);
};

constexpr Loader kFamilies[] = {
    {"albert", LoadAlbert},
    {"bart", LoadBart},
    {"bert", LoadBert},
    {"bert-generation", LoadBertGeneration},
    {"biogpt", LoadBioGpt},
    {"blenderbot", LoadBlenderbot},
    {"blenderbot-small", LoadBlenderbotSmall},
    {"bloom", LoadBloom},
    {"camembert", LoadRoberta},
    {"data2vec-text", LoadData2VecText},
    {"deberta", LoadDeberta},
    {"deberta-v2", LoadDebertaV2},
    {"distilbert", LoadDistilBert},
    {"electra", LoadElectra},
    {"encoder-decoder", LoadEncoderDecoder},
    {"ernie", LoadErnie},
    {"esm", LoadEsm},
    {"eurobert", LoadEuroBert},
    {"fsmt", LoadFsmt},
    {"gemma", LoadGemma},
    {"gemma2", LoadGemma2},
    {"gemma3_text", LoadGemma3},
    {"gpt2", LoadGpt2},
    {"gpt_neox", LoadGptNeox},
    {"gte", LoadGte},
    {"jina_embeddings_v3", LoadJinaEmbeddingsV3},
    {"llama", LoadLlama},
    {"m2m_100", LoadM2m100},
    {"marian", LoadMarian},
    {"mbart", LoadMbart},
    {"megatron-bert", LoadMegatronBert},
    {"mistral", LoadMistral},
    {"modernbert", LoadModernBert},
    {"modernbert-decoder", LoadModernBertDecoder},
    {"mpnet", LoadMpnet},
    {"mpt", LoadMpt},
    {"mt5", LoadMt5},
    {"neobert", LoadNeoBert},
    {"new", LoadGte},
    {"nomic_bert", LoadNomicBert},
    {"opt", LoadOpt},
    {"pegasus", LoadPegasus},
    {"phi3", LoadPhi3},
    {"plbart", LoadPlbart},
    {"qwen2", LoadQwen2},
    {"qwen3", LoadQwen3},
    {"rembert", LoadRemBert},
    {"roberta", LoadRoberta},
    {"roberta-prelayernorm", LoadRobertaPreNorm},
    {"roformer", LoadRoFormer},
    {"smollm3", LoadSmolLm3},
    {"starcoder2", LoadStarcoder2},
    {"t5", LoadT5},
    {"t5gemma", LoadT5Gemma},
    {"umt5", LoadUmt5},
    {"xglm", LoadXglm},
    {"xlm-roberta", LoadXlmRoberta},
    {"xlm-roberta-xl", LoadXlmRobertaXl},
};

}  // namespace

absl::StatusOr<Family> LoadFamily(const JsonFile& config) {
  ASSIGN_OR_RETURN(std::string model_type, config.String("model_type"));
  // The name before transformers 4.
  if (model_type == "encoder_decoder") model_type = "encoder-decoder";
  ASSIGN_OR_RETURN(const Quantization quantization, ReadQuantization(config));
  for (const Loader& family : kFamilies) {
    if (family.model_type != model_type) continue;
    ASSIGN_OR_RETURN(Family loaded, family.load(config));
    loaded.model_type = model_type;
    loaded.quantization = quantization;
    ASSIGN_OR_RETURN(loaded.without_head, NamesNoHead(config));
    AddExtraTensors(loaded.spec, loaded.names);
    AddBareNames(loaded.names);
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
