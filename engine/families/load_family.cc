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
    {"arcee", LoadArcee},
    {"bart", LoadBart},
    {"bert", LoadBert},
    {"bert-generation", LoadBertGeneration},
    {"biogpt", LoadBioGpt},
    {"blenderbot", LoadBlenderbot},
    {"blenderbot-small", LoadBlenderbotSmall},
    {"bloom", LoadBloom},
    {"camembert", LoadRoberta},
    {"codegen", LoadCodeGen},
    {"cohere", LoadCohere},
    {"cohere2", LoadCohere2},
    {"data2vec-text", LoadData2VecText},
    {"deberta", LoadDeberta},
    {"deberta-v2", LoadDebertaV2},
    {"distilbert", LoadDistilBert},
    {"electra", LoadElectra},
    {"encoder-decoder", LoadEncoderDecoder},
    {"ernie", LoadErnie},
    {"ernie4_5", LoadErnie45},
    {"esm", LoadEsm},
    {"eurobert", LoadEuroBert},
    {"exaone4", LoadExaone4},
    {"falcon", LoadFalcon},
    {"fsmt", LoadFsmt},
    {"gemma", LoadGemma},
    {"gemma2", LoadGemma2},
    {"gemma3", LoadGemma3Text},
    {"gemma3_text", LoadGemma3},
    {"glm", LoadGlm},
    {"glm4", LoadGlm4},
    {"gpt2", LoadGpt2},
    {"gpt_bigcode", LoadGptBigCode},
    {"gpt_neo", LoadGptNeo},
    {"gpt_neox", LoadGptNeox},
    {"gptj", LoadGptJ},
    {"granite", LoadGranite},
    {"gte", LoadGte},
    {"helium", LoadHelium},
    {"hunyuan_v1_dense", LoadHunyuan},
    {"jina_embeddings_v3", LoadJinaEmbeddingsV3},
    {"llama", LoadLlama},
    {"llava", LoadLlava},
    {"m2m_100", LoadM2m100},
    {"marian", LoadMarian},
    {"mbart", LoadMbart},
    {"megatron-bert", LoadMegatronBert},
    {"ministral", LoadMinistral},
    {"ministral3", LoadMinistral3},
    {"mistral", LoadMistral},
    {"mistral3", LoadMistral3},
    {"modernbert", LoadModernBert},
    {"modernbert-decoder", LoadModernBertDecoder},
    {"mpnet", LoadMpnet},
    {"mpt", LoadMpt},
    {"mt5", LoadMt5},
    {"nemotron", LoadNemotron},
    {"neobert", LoadNeoBert},
    {"new", LoadGte},
    {"nomic_bert", LoadNomicBert},
    {"olmo", LoadOlmo},
    {"olmo2", LoadOlmo2},
    {"olmo3", LoadOlmo3},
    {"opt", LoadOpt},
    {"pegasus", LoadPegasus},
    {"phi", LoadPhi},
    {"phi3", LoadPhi3},
    {"plbart", LoadPlbart},
    {"qwen2", LoadQwen2},
    {"qwen2_5_vl", LoadQwen25Vl},
    {"qwen2_vl", LoadQwen2Vl},
    {"qwen3", LoadQwen3},
    {"qwen3_vl", LoadQwen3Vl},
    {"rembert", LoadRemBert},
    {"roberta", LoadRoberta},
    {"roberta-prelayernorm", LoadRobertaPreNorm},
    {"roformer", LoadRoFormer},
    {"seed_oss", LoadSeedOss},
    {"smollm3", LoadSmolLm3},
    {"stablelm", LoadStableLm},
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
