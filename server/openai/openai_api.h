#ifndef ATTEND_SERVER_OPENAI_OPENAI_API_H_
#define ATTEND_SERVER_OPENAI_OPENAI_API_H_

#include <memory>
#include <vector>

#include "server/http_call/http_api.h"

namespace attend {

using MakeTranslator = std::unique_ptr<HttpTranslator>();
using FieldList = std::vector<FieldHelp>();

// A translator for each route, and the fields that its requests may have.
MakeTranslator NewModelListTranslator;
MakeTranslator NewModelTranslator;
MakeTranslator NewChatTranslator;
FieldList ChatFieldList;
MakeTranslator NewCompletionTranslator;
FieldList CompletionFieldList;
MakeTranslator NewEmbeddingTranslator;
FieldList EmbeddingFieldList;
MakeTranslator NewScoreTranslator;
FieldList ScoreFieldList;
MakeTranslator NewRerankTranslator;
FieldList RerankFieldList;
MakeTranslator NewTeiEmbedTranslator;
FieldList TeiEmbedFieldList;
MakeTranslator NewTeiSparseTranslator;
MakeTranslator NewTeiTokensTranslator;
FieldList TeiTokenFieldList;
MakeTranslator NewTeiPredictTranslator;
FieldList TeiPredictFieldList;
MakeTranslator NewTokenizeTranslator;
FieldList TokenizeFieldList;
MakeTranslator NewDetokenizeTranslator;
FieldList DetokenizeFieldList;

// OpenAI's API with what vLLM has beside it, the rerank API of Cohere and Jina,
// and routes of text-embeddings-inference.
std::vector<HttpApi> OpenAiApis();

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_OPENAI_API_H_
