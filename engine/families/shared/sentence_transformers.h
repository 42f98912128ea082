#ifndef ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/shared/family.h"

namespace attend {

// The module that reads a text, in the files of sentence-transformers.
struct FirstModule {
  // The folder of its files in the model's directory; "": the directory itself.
  std::string folder = {};
  std::string directory;  // that folder, with the path of the model
  // A tokenizer and a table of vectors, whose mean is the embedding; else a
  // transformer.
  bool is_static = false;
};

// Without modules.json: a transformer in the model's directory.
absl::StatusOr<FirstModule> ReadFirstModule(const std::string& directory);

// Reads how a model embeds, from the files that sentence-transformers (Reimers
// & Gurevych 2019) puts beside a model. Fills family.spec.embed, folders,
// names, prompts, default_prompt, lower_case and max_text_tokens.
//
//   modules.json                        which modules follow the transformer
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
absl::Status ReadSentenceTransformers(const std::string& directory,
                                      Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_SENTENCE_TRANSFORMERS_H_
