#ifndef ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_HEADS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_HEADS_H_

#include <string>

#include "engine/families/shared/family.h"

namespace attend {

// Adds the layers beside an encoder that give each token a weight and a vector
// (BGE-M3: Chen et al. 2024), if their files are there: sparse_linear.pt and
// colbert_linear.pt. Their tensors get names as those of a folder have.
void AddTokenHeads(const std::string& directory, Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_TOKEN_HEADS_H_
