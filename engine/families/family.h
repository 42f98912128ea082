#ifndef ATTEND_ENGINE_FAMILIES_FAMILY_H_
#define ATTEND_ENGINE_FAMILIES_FAMILY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/checkpoint/json_file.h"
#include "engine/checkpoint/weights.h"
#include "engine/decoding/label_scores.h"
#include "engine/transformer/spec.h"

namespace attend {

// A family of models is a table, not a class: what config.json says in terms of
// the one transformer, and what the checkpoint calls its weights. Vocabularies
// and the longest positions are in spec.{encoder,decoder}->embedding.
struct Family {
  std::string model_type;  // "marian"
  TransformerSpec spec;
  NameTable names;
  // Folders of the checkpoint that hold weights too.
  std::vector<std::string> folders = {};
  // Of the head, in the order of its scores.
  std::vector<std::string> labels = {};
  LabelScores label_scores = LabelScores::kSoftmax;
  // Of embeddings; see ModelInfo.
  std::map<std::string, std::string> prompts = {};
  std::string default_prompt = {};
  int max_text_tokens = 0;  // 0: as many as there are positions
};

// The family that config.json's model_type names. INVALID_ARGUMENT names the
// field, its value and what is supported: a configuration that would change the
// result and is not supported never loads, and no number in it can make the
// process allocate without bound.
absl::StatusOr<Family> LoadFamily(const JsonFile& config);

// One file each.
absl::StatusOr<Family> LoadBart(const JsonFile& config);
absl::StatusOr<Family> LoadBert(const JsonFile& config);
absl::StatusOr<Family> LoadBloom(const JsonFile& config);
absl::StatusOr<Family> LoadDistilBert(const JsonFile& config);
absl::StatusOr<Family> LoadElectra(const JsonFile& config);
absl::StatusOr<Family> LoadGemma2(const JsonFile& config);
absl::StatusOr<Family> LoadGemma3(const JsonFile& config);
absl::StatusOr<Family> LoadGpt2(const JsonFile& config);
absl::StatusOr<Family> LoadGptNeox(const JsonFile& config);
absl::StatusOr<Family> LoadLlama(const JsonFile& config);
absl::StatusOr<Family> LoadM2m100(const JsonFile& config);  // and NLLB
absl::StatusOr<Family> LoadMarian(const JsonFile& config);
absl::StatusOr<Family> LoadMbart(const JsonFile& config);
absl::StatusOr<Family> LoadMistral(const JsonFile& config);
absl::StatusOr<Family> LoadModernBert(const JsonFile& config);
absl::StatusOr<Family> LoadMpnet(const JsonFile& config);
absl::StatusOr<Family> LoadMpt(const JsonFile& config);
absl::StatusOr<Family> LoadMt5(const JsonFile& config);
absl::StatusOr<Family> LoadOpt(const JsonFile& config);
absl::StatusOr<Family> LoadPegasus(const JsonFile& config);
absl::StatusOr<Family> LoadPhi3(const JsonFile& config);
absl::StatusOr<Family> LoadQwen2(const JsonFile& config);
absl::StatusOr<Family> LoadQwen3(const JsonFile& config);
absl::StatusOr<Family> LoadRoberta(const JsonFile& config);  // XLM-RoBERTa too
absl::StatusOr<Family> LoadT5(const JsonFile& config);       // and Flan-T5

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_FAMILY_H_
