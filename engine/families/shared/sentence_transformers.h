#ifndef ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_

#include "absl/status/status.h"
#include "engine/families/shared/family.h"
#include "engine/families/shared/module_list.h"

namespace attend {

// Reads how a model embeds, from the files that sentence-transformers (Reimers
// & Gurevych 2019) puts beside a model. Fills family.spec.embed and routes,
// folders, names, prompts, default_prompt, lower_case and max_text_tokens.
//
//   modules.json                        which modules follow the transformer:
//                                       the routes of `group`
//   1_Pooling/config.json               how the vectors of tokens become one
//   2_Dense/config.json                 a layer after pooling, with weights
//   3_LayerNorm/config.json             the same
//   sentence_bert_config.json           the longest source, lower case
//   config_sentence_transformers.json   prompts, a cross-encoder's function,
//                                       the length of embeddings
//   sparse_linear.pt, colbert_linear.pt see AddTokenHeads()
//
// If modules.json has a pooling, the model embeds, and a head that config.json
// names is not loaded. Without modules.json the embedding is the plain mean of
// the vectors, as sentence-transformers does for a bare model.
//
// INVALID_ARGUMENT names the file, the field, its value and what is supported.
absl::Status ReadSentenceTransformers(const RouteGroup& group, Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_
