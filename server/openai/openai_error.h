#ifndef ATTEND_SERVER_OPENAI_OPENAI_ERROR_H_
#define ATTEND_SERVER_OPENAI_OPENAI_ERROR_H_

#include "absl/status/status.h"
#include "server/http_call/http_api.h"

namespace attend {

// {"error": {"message", "type", "param", "code"}}
HttpErrorBody OpenAiError(const absl::Status& status, int http_status);
// {"message", "error": as above}: Cohere's clients read the first, others the
// second.
HttpErrorBody RerankError(const absl::Status& status, int http_status);
// {"error": text, "error_type"}, as text-embeddings-inference has them.
HttpErrorBody TeiError(const absl::Status& status, int http_status);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_OPENAI_ERROR_H_
