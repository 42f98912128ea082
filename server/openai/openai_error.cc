#include "server/openai/openai_error.h"

#include <string>

#include "absl/strings/match.h"
#include "engine/tokenizer/text/too_many_tokens.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_value.h"

namespace attend {
namespace {

// As OpenAI and vLLM write them; clients choose their exceptions by the HTTP
// status.
const char* TypeOf(int http_status) {
  switch (http_status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 408:
    case 504:
      return "timeout_error";
    case 429:
      return "rate_limit_error";
    default:
      return http_status < 500 ? "invalid_request_error" : "server_error";
  }
}

// The status of one input of several has no payload, only words.
bool IsTooManyTokens(const absl::Status& status) {
  return status.GetPayload(kTooManyTokensUrl).has_value() ||
         absl::StrContains(status.message(), "max_source_tokens") ||
         absl::StrContains(status.message(), "max_target_tokens") ||
         absl::StrContains(status.message(), " tokens, limit is ") ||
         absl::StrContains(status.message(), " bytes, limit is ");
}

// The codes of OpenAI that clients look at; null: none.
const char* CodeOf(const absl::Status& status, int http_status) {
  if (http_status == 401) return "invalid_api_key";
  if (http_status == 429) return "rate_limit_exceeded";
  if (absl::IsNotFound(status)) return "model_not_found";
  if (http_status != 400) return nullptr;
  return IsTooManyTokens(status) ? "context_length_exceeded" : nullptr;
}

Json OrNull(const char* text) { return text == nullptr ? Json() : Json(text); }

Json ErrorJson(const absl::Status& status, int http_status) {
  const std::string field = FieldOf(status);
  return {{"message", std::string(status.message())},
          {"type", TypeOf(http_status)},
          {"param", field.empty() ? Json() : Json(field)},
          {"code", OrNull(CodeOf(status, http_status))}};
}

// The types of text-embeddings-inference.
const char* TeiTypeOf(const absl::Status& status, int http_status) {
  if (http_status == 429 || absl::IsResourceExhausted(status)) {
    return "Overloaded";
  }
  if (http_status < 500) return "Validation";
  return absl::IsUnavailable(status) ? "Unhealthy" : "Backend";
}

}  // namespace

HttpErrorBody OpenAiError(const absl::Status& status, int http_status) {
  return {.text = DumpJson(Json{{"error", ErrorJson(status, http_status)}})};
}

HttpErrorBody RerankError(const absl::Status& status, int http_status) {
  return {.text = DumpJson(Json{{"message", std::string(status.message())},
                                {"error", ErrorJson(status, http_status)}})};
}

HttpErrorBody TeiError(const absl::Status& status, int http_status) {
  return {.text =
              DumpJson(Json{{"error", std::string(status.message())},
                            {"error_type", TeiTypeOf(status, http_status)}})};
}

}  // namespace attend
