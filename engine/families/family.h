#ifndef ATTEND_ENGINE_FAMILIES_FAMILY_H_
#define ATTEND_ENGINE_FAMILIES_FAMILY_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/json_file.h"
#include "engine/checkpoint/weights.h"
#include "engine/transformer/spec.h"

namespace attend {

// A family of models is a table, not a class: what config.json says in terms of
// the one transformer, and what the checkpoint calls its weights. Vocabularies
// and the longest positions are in spec.{encoder,decoder}->embedding.
struct Family {
  std::string model_type;  // "marian"
  TransformerSpec spec;
  NameTable names;
};

// The family that config.json's model_type names. INVALID_ARGUMENT names the
// field, its value and what is supported: a configuration that would change the
// result and is not supported never loads, and no number in it can make the
// process allocate without bound.
absl::StatusOr<Family> LoadFamily(const JsonFile& config);

// One file each.
absl::StatusOr<Family> LoadBart(const JsonFile& config);
absl::StatusOr<Family> LoadM2m100(const JsonFile& config);  // and NLLB
absl::StatusOr<Family> LoadMarian(const JsonFile& config);
absl::StatusOr<Family> LoadMbart(const JsonFile& config);
absl::StatusOr<Family> LoadMt5(const JsonFile& config);
absl::StatusOr<Family> LoadPegasus(const JsonFile& config);
absl::StatusOr<Family> LoadT5(const JsonFile& config);  // and Flan-T5

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_FAMILY_H_
