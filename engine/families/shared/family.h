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

// Vectors of tokens that are compared one by one, in words; see
// TokenVectorsInfo.
struct TokenVectorsWords {
  int first = 0;
  int query_tokens = 0;
  int document_tokens = 0;
  int expanded_tokens = 0;
  std::string expansion_token = {};  // "": the mask, else the end of a text
  bool expansion_attended = false;
  std::vector<std::string> skipped = {};
};

// A family of models is a table, not a class: a TransformerSpec made from
// config.json, and the names of the weights in the checkpoint. Sizes of
// vocabularies and the number of positions are in
// spec.{encoder,decoder}->embedding.
struct Family {
  std::string model_type;  // "marian"
  TransformerSpec spec;
  // config.json names a class that has no head ("LlamaModel").
  bool without_head = false;
  NameTable names;
  Quantization quantization = {};
  // Folders in the model's directory that hold weights too, and files NAME.pt.
  std::vector<std::string> folders = {};
  // The labels of the head, in the order of its scores.
  std::vector<std::string> labels = {};
  LabelScores label_scores = LabelScores::kSoftmax;
  LabelScores pair_scores = LabelScores::kSigmoid;  // see ModelInfo
  bool chat_pairs = false;                          // see ModelInfo
  // Prompts of embeddings; see ModelInfo.
  std::map<std::string, std::string> prompts = {};
  std::string default_prompt = {};
  // The names of spec.adapters, in their order.
  std::vector<std::string> adapters = {};
  TokenVectorsWords token_vectors = {};
  bool stanford_colbert = false;  // see ReadStanfordColbert()
  // Tokens whose weights do not count in sparse embeddings.
  std::vector<std::string> weightless = {};
  // Beginnings of texts that are one token each, if the vocabulary has them.
  std::vector<std::string> prefixes = {};
  // False: texts get no special tokens around them.
  bool adds_special = true;
  bool lower_case = false;  // texts are put in lower case first
  int max_text_tokens = 0;  // see ModelInfo; 0: the number of positions
};

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_FAMILY_H_
