#ifndef ATTEND_ENGINE_FAMILIES_SHARED_FAMILY_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_FAMILY_H_

#include <map>
#include <string>
#include <vector>

#include "engine/api/label_scores.h"
#include "engine/checkpoint/quantization.h"
#include "engine/checkpoint/weights.h"
#include "engine/transformer/spec.h"

namespace attend {

// A family of models is a table, not a class: a TransformerSpec made from
// config.json, and the names of the weights in the checkpoint. Sizes of
// vocabularies and the number of positions are in
// spec.{encoder,decoder}->embedding.
struct Family {
  std::string model_type;  // "marian"
  TransformerSpec spec;
  NameTable names;
  Quantization quantization = {};
  // Folders below the model's directory that hold weights too.
  std::vector<std::string> folders = {};
  // The labels of the head, in the order of its scores.
  std::vector<std::string> labels = {};
  LabelScores label_scores = LabelScores::kSoftmax;
  LabelScores pair_scores = LabelScores::kSigmoid;  // see ModelInfo
  // Prompts of embeddings; see ModelInfo.
  std::map<std::string, std::string> prompts = {};
  std::string default_prompt = {};
  // False: texts get no special tokens around them.
  bool adds_special = true;
  bool lower_case = false;  // texts are put in lower case first
  int max_text_tokens = 0;  // see ModelInfo; 0: the number of positions
};

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_FAMILY_H_
