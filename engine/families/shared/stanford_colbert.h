#ifndef ATTEND_ENGINE_FAMILIES_SHARED_STANFORD_COLBERT_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_STANFORD_COLBERT_H_

#include <string>

#include "absl/status/status.h"
#include "engine/families/shared/family.h"

namespace attend {

// The class of config.json of the first ColBERTs (Santhanam et al. 2021).
inline constexpr char kStanfordColbert[] = "HF_ColBERT";

// Reads how the model compares tokens: its projection is among the encoder's
// tensors, the rest is in artifact.metadata.
absl::Status ReadStanfordColbert(const std::string& directory, Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_STANFORD_COLBERT_H_
