#ifndef ATTEND_ENGINE_DECODING_VOCABULARY_TEXTS_H_
#define ATTEND_ENGINE_DECODING_VOCABULARY_TEXTS_H_

#include "engine/tensor/text_list.h"

namespace attend {

// Texts of a model's target tokens, by id. No id has a text in both lists; a
// list without an entry for an id has no text for it. Const after it is made;
// any thread may read.
struct VocabularyTexts {
  // The bytes that an id adds to running text; "" for special tokens.
  TextList plain;
  // The spelling of a special token ("<|im_end|>"); "" for all other ids.
  TextList special;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_VOCABULARY_TEXTS_H_
