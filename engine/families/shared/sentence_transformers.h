#ifndef ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_

#include <string>

#include "absl/status/status.h"
#include "engine/families/shared/family.h"

namespace attend {

// How a model embeds, from the files that sentence-transformers (Reimers &
// Gurevych 2019) puts beside a model, into family.spec.embed, folders, names,
// prompts, default_prompt and max_text_tokens:
//
//   modules.json                     which modules follow the transformer
//   1_Pooling/config.json            how vectors of tokens become one
//   2_Dense/config.json              layers on top of it, with weights beside
//   sentence_bert_config.json        the longest source
//   config_sentence_transformers.json  prompts, a cross-encoder's function
//
// Where modules.json has a pooling, the model is one that embeds, and a head
// that config.json names is not loaded. Without modules.json, the mean of the
// vectors, as it is: what sentence-transformers makes of a plain model.
//
// INVALID_ARGUMENT names the file, the field, its value and what is supported.
absl::Status ReadSentenceTransformers(const std::string& directory,
                                      Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_
