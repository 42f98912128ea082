#ifndef ATTEND_ENGINE_FAMILIES_SHARED_FAMILY_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_FAMILY_H_

#include <map>
#include <string>
#include <vector>

#include "engine/api/label_scores.h"
#include "engine/checkpoint/weights.h"
#include "engine/transformer/spec.h"

namespace attend {

// A family of models is a table, not a class: what config.json says in terms of
// the one transformer, and what the checkpoint calls its weights. Vocabularies
// and the longest positions are in spec.{encoder,decoder}->embedding.
struct Family {
  std::string model_type;  // "marian"
  TransformerSpec spec;
  NameTable names;
  // Folders of the checkpoint that hold weights too.
  std::vector<std::string> folders = {};
  // Of the head, in the order of its scores.
  std::vector<std::string> labels = {};
  LabelScores label_scores = LabelScores::kSoftmax;
  // Of embeddings; see ModelInfo.
  std::map<std::string, std::string> prompts = {};
  std::string default_prompt = {};
  int max_text_tokens = 0;  // 0: as many as there are positions
};

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_FAMILY_H_
