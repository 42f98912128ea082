#ifndef ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_NAMES_H_
#define ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_NAMES_H_

#include <string>

#include "engine/checkpoint/ctranslate2/ct2_model.h"
#include "engine/checkpoint/weights.h"
#include "engine/transformer/spec.h"

namespace attend {

// Adds the names of a stack's weights. `name` is "encoder" or "decoder", both
// in the slots and in the file. Queries, keys and values are slices of one
// tensor. All layers have the biases that the first one has.
void AddCt2Names(const Ct2Model& model, const std::string& name,
                 const StackSpec& stack, NameTable& names);

// The token table of a stack.
std::string Ct2TokenTable(const std::string& stack);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_NAMES_H_
