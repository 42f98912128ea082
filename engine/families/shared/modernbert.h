#ifndef ATTEND_ENGINE_FAMILIES_SHARED_MODERNBERT_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_MODERNBERT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// The layers that ModernBERT (Warner et al. 2024) and its decoder (Weller et
// al. 2025) share. Errors: see config_fields.h.

// The matrices and norms that have a bias, by flags of config.json.
struct ModernBertBiases {
  Bias norm = Bias::kNo;
  Bias attention = Bias::kNo;
  Bias feed_forward = Bias::kNo;
  Bias classifier = Bias::kNo;
  bool decoder = true;  // of the vocabulary projection
};

absl::StatusOr<ModernBertBiases> ReadModernBertBiases(const JsonFile& config);

// Sets norms, rotations and windows of the layers of `stack`, whose sizes are
// set. `causal`: a token sees those before it, in half of the window.
absl::Status ReadModernBertLayers(const JsonFile& config, bool causal,
                                  StackSpec& stack);

// `name` as it stands in a checkpoint with a head, and in one without.
std::vector<std::string> ModernBertNames(const char* name);

// Adds the names of all layers of `stack` ("encoder") but queries, keys and
// values, and those of the norms around the layers.
void AddModernBertLayers(const std::string& stack,
                         const ModernBertBiases& biases, NameTable& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_MODERNBERT_H_
