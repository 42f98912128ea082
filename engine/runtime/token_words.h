#ifndef ATTEND_ENGINE_RUNTIME_TOKEN_WORDS_H_
#define ATTEND_ENGINE_RUNTIME_TOKEN_WORDS_H_

#include <string>
#include <vector>

#include "engine/api/model_info.h"
#include "engine/families/shared/family.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The ids of the words that the vocabulary has as single tokens, ascending.
std::vector<int> IdsOf(const std::vector<std::string>& words,
                       const Tokenizer& tokenizer);

// Converts the words in a model's settings for token vectors into ids. `width`
// is not set.
TokenVectorsInfo ToIds(const TokenVectorsWords& words,
                       const Tokenizer& tokenizer);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TOKEN_WORDS_H_
