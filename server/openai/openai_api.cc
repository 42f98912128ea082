#include "server/openai/openai_api.h"

#include "absl/strings/string_view.h"
#include "server/openai/openai_error.h"

namespace attend {

std::vector<HttpApi> OpenAiApis() {
  HttpApi openai = {
      .methods =
          {
              {"GET", "/v1/models", NewModelListTranslator,
               "The models that the caller may use."},
              {"GET", "/v1/models/*", NewModelTranslator, "One model."},
              {"POST", "/v1/chat/completions", NewChatTranslator,
               "Continues a conversation.", ChatFieldList, /*streams=*/true},
              {"POST", "/v1/completions", NewCompletionTranslator,
               "Continues or translates texts.", CompletionFieldList,
               /*streams=*/true},
              {"POST", "/v1/embeddings", NewEmbeddingTranslator,
               "Vectors of texts.", EmbeddingFieldList},
              {"POST", "/v1/score", NewScoreTranslator,
               "Scores of pairs of texts.", ScoreFieldList},
              {"POST", "/score", NewScoreTranslator,
               "Scores of pairs of texts.", ScoreFieldList},
              {"POST", "/tokenize", NewTokenizeTranslator,
               "The token ids of a text or of a conversation.",
               TokenizeFieldList},
              {"POST", "/detokenize", NewDetokenizeTranslator,
               "The text of token ids.", DetokenizeFieldList},
          },
      .error = OpenAiError,
      .prefixes = {"/v1/"}};
  constexpr absl::string_view kRerank =
      "Orders documents by how well they answer a query.";
  HttpApi rerank = {.methods =
                        {
                            {"POST", "/rerank", NewRerankTranslator, kRerank,
                             RerankFieldList},
                            {"POST", "/v1/rerank", NewRerankTranslator, kRerank,
                             RerankFieldList},
                            {"POST", "/v2/rerank", NewRerankTranslator, kRerank,
                             RerankFieldList},
                        },
                    .error = RerankError,
                    .prefixes = {"/v2/"}};
  HttpApi tei = {
      .methods =
          {
              {"POST", "/embed", NewTeiEmbedTranslator, "Vectors of texts.",
               TeiEmbedFieldList},
              {"POST", "/embed_sparse", NewTeiSparseTranslator,
               "Weights of the tokens of texts.", TeiTokenFieldList},
              {"POST", "/embed_all", NewTeiTokensTranslator,
               "A vector of each token of texts.", TeiTokenFieldList},
              {"POST", "/predict", NewTeiPredictTranslator,
               "Labels of texts or of pairs of texts.", TeiPredictFieldList},
          },
      .error = TeiError,
      .prefixes = {}};
  return {openai, rerank, tei};
}

}  // namespace attend
