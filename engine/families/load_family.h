#ifndef ATTEND_ENGINE_FAMILIES_LOAD_FAMILY_H_
#define ATTEND_ENGINE_FAMILIES_LOAD_FAMILY_H_

#include "absl/status/statusor.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/families/shared/family.h"
#include "engine/json/json_file.h"

namespace attend {

// The family that model_type of config.json names. INVALID_ARGUMENT names the
// field, its value and what is supported. A configuration with a field that
// would change the results and is not supported does not load. No number in a
// configuration can make the process allocate without limit.
absl::StatusOr<Family> LoadFamily(const JsonFile& config);

// The tokenizer's vectors alone, as StaticEmbedding of sentence-transformers
// and model2vec have them: an embedding is the mean of its tokens' vectors.
// There is no config.json; the tensors say the sizes.
absl::StatusOr<Family> LoadStaticEmbedding(const TensorSource& tensors);
// A weight of each token, as SparseStaticEmbedding of sentence-transformers has
// them: a text has the weights of its tokens.
absl::StatusOr<Family> LoadSparseStaticEmbedding(const TensorSource& tensors);

// The families, a file each.
absl::StatusOr<Family> LoadAlbert(const JsonFile& config);
absl::StatusOr<Family> LoadArcee(const JsonFile& config);
absl::StatusOr<Family> LoadBart(const JsonFile& config);
absl::StatusOr<Family> LoadBert(const JsonFile& config);
absl::StatusOr<Family> LoadBertGeneration(const JsonFile& config);
absl::StatusOr<Family> LoadBioGpt(const JsonFile& config);
absl::StatusOr<Family> LoadBlenderbot(const JsonFile& config);
absl::StatusOr<Family> LoadBlenderbotSmall(const JsonFile& config);
absl::StatusOr<Family> LoadBloom(const JsonFile& config);
absl::StatusOr<Family> LoadCodeGen(const JsonFile& config);
absl::StatusOr<Family> LoadCohere(const JsonFile& config);
absl::StatusOr<Family> LoadCohere2(const JsonFile& config);
absl::StatusOr<Family> LoadData2VecText(const JsonFile& config);
absl::StatusOr<Family> LoadDeberta(const JsonFile& config);
absl::StatusOr<Family> LoadDebertaV2(const JsonFile& config);
absl::StatusOr<Family> LoadDistilBert(const JsonFile& config);
absl::StatusOr<Family> LoadElectra(const JsonFile& config);
absl::StatusOr<Family> LoadEncoderDecoder(const JsonFile& config);
absl::StatusOr<Family> LoadErnie(const JsonFile& config);
absl::StatusOr<Family> LoadErnie45(const JsonFile& config);
absl::StatusOr<Family> LoadEsm(const JsonFile& config);
absl::StatusOr<Family> LoadEuroBert(const JsonFile& config);
absl::StatusOr<Family> LoadExaone4(const JsonFile& config);
absl::StatusOr<Family> LoadFalcon(const JsonFile& config);
absl::StatusOr<Family> LoadFsmt(const JsonFile& config);
absl::StatusOr<Family> LoadGemma(const JsonFile& config);
absl::StatusOr<Family> LoadGemma2(const JsonFile& config);
absl::StatusOr<Family> LoadGemma3(const JsonFile& config);
absl::StatusOr<Family> LoadGemma3Text(const JsonFile& config);
absl::StatusOr<Family> LoadGlm(const JsonFile& config);
absl::StatusOr<Family> LoadGlm4(const JsonFile& config);
absl::StatusOr<Family> LoadGpt2(const JsonFile& config);
absl::StatusOr<Family> LoadGptBigCode(const JsonFile& config);
absl::StatusOr<Family> LoadGptJ(const JsonFile& config);
absl::StatusOr<Family> LoadGptNeo(const JsonFile& config);
absl::StatusOr<Family> LoadGptNeox(const JsonFile& config);
absl::StatusOr<Family> LoadGranite(const JsonFile& config);
absl::StatusOr<Family> LoadGte(const JsonFile& config);
absl::StatusOr<Family> LoadHelium(const JsonFile& config);
absl::StatusOr<Family> LoadHunyuan(const JsonFile& config);
absl::StatusOr<Family> LoadJinaBert(const JsonFile& config);  // called by BERT
absl::StatusOr<Family> LoadJinaEmbeddingsV3(const JsonFile& config);
absl::StatusOr<Family> LoadLlama(const JsonFile& config);
absl::StatusOr<Family> LoadLlava(const JsonFile& config);
absl::StatusOr<Family> LoadM2m100(const JsonFile& config);  // and NLLB
absl::StatusOr<Family> LoadMarian(const JsonFile& config);
absl::StatusOr<Family> LoadMbart(const JsonFile& config);
absl::StatusOr<Family> LoadMegatronBert(const JsonFile& config);
absl::StatusOr<Family> LoadMinistral(const JsonFile& config);
absl::StatusOr<Family> LoadMinistral3(const JsonFile& config);
absl::StatusOr<Family> LoadMistral(const JsonFile& config);
absl::StatusOr<Family> LoadMistral3(const JsonFile& config);
absl::StatusOr<Family> LoadModernBert(const JsonFile& config);
absl::StatusOr<Family> LoadModernBertDecoder(const JsonFile& config);
absl::StatusOr<Family> LoadMpnet(const JsonFile& config);
absl::StatusOr<Family> LoadMpt(const JsonFile& config);
absl::StatusOr<Family> LoadMt5(const JsonFile& config);
absl::StatusOr<Family> LoadNemotron(const JsonFile& config);
absl::StatusOr<Family> LoadNeoBert(const JsonFile& config);
absl::StatusOr<Family> LoadNomicBert(const JsonFile& config);
absl::StatusOr<Family> LoadOlmo(const JsonFile& config);
absl::StatusOr<Family> LoadOlmo2(const JsonFile& config);
absl::StatusOr<Family> LoadOlmo3(const JsonFile& config);
absl::StatusOr<Family> LoadOpt(const JsonFile& config);
absl::StatusOr<Family> LoadPegasus(const JsonFile& config);
absl::StatusOr<Family> LoadPhi(const JsonFile& config);
absl::StatusOr<Family> LoadPhi3(const JsonFile& config);
absl::StatusOr<Family> LoadPlbart(const JsonFile& config);
absl::StatusOr<Family> LoadQwen2(const JsonFile& config);
absl::StatusOr<Family> LoadQwen25Vl(const JsonFile& config);
absl::StatusOr<Family> LoadQwen2Vl(const JsonFile& config);
absl::StatusOr<Family> LoadQwen3(const JsonFile& config);
absl::StatusOr<Family> LoadQwen3Vl(const JsonFile& config);
absl::StatusOr<Family> LoadRemBert(const JsonFile& config);
absl::StatusOr<Family> LoadRoberta(const JsonFile& config);  // and CamemBERT
absl::StatusOr<Family> LoadRobertaPreNorm(const JsonFile& config);
absl::StatusOr<Family> LoadRoFormer(const JsonFile& config);
absl::StatusOr<Family> LoadSeedOss(const JsonFile& config);
absl::StatusOr<Family> LoadSmolLm3(const JsonFile& config);
absl::StatusOr<Family> LoadStableLm(const JsonFile& config);
absl::StatusOr<Family> LoadStarcoder2(const JsonFile& config);
absl::StatusOr<Family> LoadT5(const JsonFile& config);  // and Flan-T5
absl::StatusOr<Family> LoadT5Gemma(const JsonFile& config);
absl::StatusOr<Family> LoadUmt5(const JsonFile& config);
absl::StatusOr<Family> LoadXglm(const JsonFile& config);
absl::StatusOr<Family> LoadXlmRoberta(const JsonFile& config);
// Called by XLM-RoBERTa.
absl::StatusOr<Family> LoadXlmRobertaFlash(const JsonFile& config);
absl::StatusOr<Family> LoadXlmRobertaXl(const JsonFile& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_LOAD_FAMILY_H_
