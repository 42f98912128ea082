#ifndef ATTEND_SERVER_SERVICE_TRANSLATE_REQUEST_H_
#define ATTEND_SERVER_SERVICE_TRANSLATE_REQUEST_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "server/documents/document.h"
#include "server/documents/glossary.h"
#include "server/service/service.h"

namespace attend {

// Functions that read fields of a TranslateRequest. INVALID_ARGUMENT names the
// field, its value and the limit.

// The parameters with which each sentence is generated.
absl::StatusOr<v1::GenerationParams> ReadTranslationParams(
    const v1::TranslateRequest& request, const ModelInfo& model);
// A model of several targets has to be told one: by the request, or by each
// document, which then begins with its token.
absl::Status CheckTargetLanguage(const v1::TranslateRequest& request,
                                 const Tokenizer& tokenizer);
absl::StatusOr<DocumentFormat> ReadFormat(v1::DocumentFormat format);
absl::StatusOr<Glossary> ReadGlossary(const v1::TranslateRequest& request);

// How many sentences all documents may have. Fewer if the answer has figures
// for each token of each sentence, which may take 1,000 times as much memory as
// the texts.
struct SentenceLimit {
  int count = 0;
  const char* name = "";
};
SentenceLimit MostSentences(const v1::TranslateRequest& request,
                            const Service& service);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_TRANSLATE_REQUEST_H_
