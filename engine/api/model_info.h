#ifndef ATTEND_ENGINE_API_MODEL_INFO_H_
#define ATTEND_ENGINE_API_MODEL_INFO_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/engine_request.h"
#include "engine/api/generation_params.h"
#include "engine/api/label_scores.h"
#include "engine/api/missing_default.h"

namespace attend {

// The computation of multi-vectors, in which tokens are compared one by one.
struct TokenVectorsInfo {
  int width = 0;  // elements of a vector; 0: the model has no such vectors
  int first = 0;  // the first token that has a vector
  // The longest query and document in tokens; 0: as of other texts.
  int query_tokens = 0;
  int document_tokens = 0;
  // Queries are padded to this number of tokens with `expansion_id`; 0: not.
  int expanded_tokens = 0;
  int expansion_id = 0;
  bool expansion_attended = false;
  std::vector<int> skipped_ids = {};  // tokens of documents without a vector
};

// Routes by role, as indices of ModelInfo::routes: texts without a role,
// queries, and documents. -1: the model has no route for them.
struct RoleRoutes {
  int text = 0;
  int query = 0;
  int document = 0;
};

struct ModelInfo {
  std::string name;
  std::string family;  // config.json's model_type
  std::string dtype;   // dtype of the matrix products: "f32", "bf16", ...
  int source_vocab = 0;
  // Vocabulary of the decoder or of the masked-LM head; 0: there is neither.
  int target_vocab = 0;
  // The tasks that the model can do.
  bool generates = false;  // GenerateTask, ScoreTask
  // A decoder-only model: a client's source is the prompt, which precedes the
  // generated or scored tokens. The prompt counts towards
  // max_target_tokens; there is no decoder start.
  bool continues_source = false;
  bool embeds = false;  // EmbedTask
  bool pools = true;    // EmbedTask::pooled, if it embeds
  // EmbedTask::sparse, which returns one value per token of the vocabulary, or
  // of the source.
  bool weighs_tokens = false;
  bool weighs_vocabulary = false;
  // Tokens of a source that have no weight.
  std::vector<int> weightless_ids = {};
  TokenVectorsInfo token_vectors = {};  // EmbedTask::token_vectors
  bool classifies = false;              // ClassifyTask, with labels
  bool labels_tokens = false;           // ClassifyTask scores each token
  // ClassifyTask gives two logits for each token: that an answer to the first
  // text begins, or ends, with it.
  bool finds_spans = false;
  // ClassifyTask gives one logit for a pair: how well the second text continues
  // the first.
  bool chooses = false;
  bool fills_masks = false;              // FillMaskTask
  int embedding_width = 0;               // elements of a source's vector
  int token_width = 0;                   // elements of a token's vector
  std::vector<std::string> labels = {};  // in the order of the scores
  LabelScores label_scores = LabelScores::kSoftmax;
  // For a model with one label: the function for the logit of a ranked pair, as
  // in sentence-transformers' CrossEncoder. kSigmoid or kRaw.
  LabelScores pair_scores = LabelScores::kSigmoid;
  // A pair that is ranked is a conversation of the roles "query" and
  // "document", if the model has a chat template.
  bool chat_pairs = false;
  // Texts to put before a text that is embedded, by name.
  std::map<std::string, std::string> prompts = {};
  // The name of the prompt for requests that name none; empty: no prompt.
  std::string default_prompt = {};
  // False: EmbedTask::prompt_tokens are to be counted.
  bool pools_prompt = true;
  // The names of the adapters that a request may choose, by number. A prompt of
  // the same name is what the adapter was trained with.
  std::vector<std::string> adapters = {};
  int token_types = 0;  // SourceTokens::types are below this; 0: no types
  // False: texts are read without special tokens around them.
  bool adds_special = true;
  // The longest source or prompt, special tokens included.
  int max_source_tokens = 0;
  // A longer text is truncated to this before an encoder reads it: the length
  // that the model was trained for, at most max_source_tokens.
  int max_text_tokens = 0;
  // The longest sequence of decoder tokens: the prompt or the decoder start,
  // the forced prefix, and new tokens.
  int max_target_tokens = 0;
  int max_beams = 0;  // beams or samples of one request
  // Maximum number of rows of one step.
  int max_step_rows = 0;
  // For a decoder: the blocks for keys and values, and the tokens of a block. A
  // request whose hypotheses may need more blocks is refused. 0: no such limit.
  int kv_blocks = 0;
  int block_tokens = 0;
  // Defaults of generation, from the model's own files.
  GenerationParams generation;
  // The longest and the shortest result of a model that continues its source,
  // prompt included, where a request sets no number of new tokens; 0: not set.
  int max_length = 0;
  int min_length = 0;
  // Defaults in the model's files that are not in `generation`.
  std::vector<MissingDefault> missing_defaults = {};
  // The model for the texts of each route, where texts are embedded in several
  // ways (Router of sentence-transformers): EmbedTask::route. This info is that
  // of the first route. Empty: there is one way.
  std::vector<ModelInfo> routes = {};
  RoleRoutes role_routes = {};
};

// The input that the model takes: a source, or a prompt of the same ids.
inline EngineInput InputOf(const ModelInfo& model, SourceTokens tokens) {
  if (model.continues_source) return Prompt{std::move(tokens.ids)};
  return tokens;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_API_MODEL_INFO_H_
