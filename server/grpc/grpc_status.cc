#include "server/grpc/grpc_status.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "attend/v1/status_details.pb.h"
#include "engine/json/utf8.h"
#include "server/service/request_id.h"
#include "server/service/retry_after.h"

namespace attend {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  // Both use the codes of google.rpc.Code.
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string message = ReplaceInvalidUtf8(status.message());
  const std::optional<absl::Duration> delay = RetryAfter(status);
  if (!delay) return grpc::Status(code, message);

  v1::StatusDetails details;
  details.set_code(code);
  details.set_message(message);
  google::protobuf::Any& any = *details.add_details();
  any.set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  any.set_value(RetryInfoOf(*delay).SerializeAsString());
  return grpc::Status(code, message, details.SerializeAsString());
}

void AddRetryPushback(const absl::Status& status,
                      grpc::ServerContext& context) {
  const std::optional<absl::Duration> delay = RetryAfter(status);
  if (!delay && !absl::IsResourceExhausted(status)) return;
  context.AddTrailingMetadata(
      "grpc-retry-pushback-ms",
      absl::StrCat(delay ? absl::ToInt64Milliseconds(*delay) : -1));
}

void AddRequestId(const std::string& id, const absl::Status& status,
                  grpc::ServerContext& context) {
  if (absl::IsUnavailable(status) || absl::IsResourceExhausted(status)) {
    context.AddTrailingMetadata(kRequestIdKey, id);
  } else {
    context.AddInitialMetadata(kRequestIdKey, id);
  }
}

}  // namespace attend
