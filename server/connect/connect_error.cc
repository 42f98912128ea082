#include "server/connect/connect_error.h"

#include <google/protobuf/util/time_util.h>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/strip.h"
#include "attend/v1/status_details.pb.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_value.h"
#include "server/service/retry_after.h"

namespace attend {
namespace {

// "invalid_argument". The protocol spells CANCELLED differently.
std::string CodeName(absl::StatusCode code) {
  if (code == absl::StatusCode::kCancelled) return "canceled";
  return absl::AsciiStrToLower(absl::StatusCodeToString(code));
}

// The protocol leaves the padding out.
std::string Base64(absl::string_view bytes) {
  std::string text = absl::Base64Escape(bytes);
  text.resize(text.find_last_not_of('=') + 1);
  return text;
}

Json RetryDetail(absl::Duration delay) {
  const v1::RetryInfo info = RetryInfoOf(delay);
  return {{"type", "google.rpc.RetryInfo"},
          {"value", Base64(info.SerializeAsString())},
          {"debug",
           {{"retryDelay",
             google::protobuf::util::TimeUtil::ToString(info.retry_delay())}}}};
}

Json ErrorJson(const absl::Status& status) {
  Json error = {{"code", CodeName(status.code())},
                {"message", std::string(status.message())}};
  if (const auto delay = RetryAfter(status)) {
    error["details"] = Json::array({RetryDetail(*delay)});
  }
  return error;
}

}  // namespace

HttpErrorBody ConnectError(const absl::Status& status, int /*http_status*/) {
  return {.text = DumpJson(ErrorJson(status))};
}

int ConnectHttpStatus(const absl::Status& status) {
  if (FieldOf(status) == "Content-Type") return 415;
  if (absl::IsResourceExhausted(status)) return 429;
  return ToHttpStatus(status);
}

std::string EndOfStream(const absl::Status& status) {
  Json end = Json::object();
  if (!status.ok()) end["error"] = ErrorJson(status);
  return DumpJson(end);
}

}  // namespace attend
