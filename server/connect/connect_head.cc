#include "server/connect/connect_head.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

constexpr char kVersionHeader[] = "Connect-Protocol-Version";
constexpr char kTimeoutHeader[] = "Connect-Timeout-Ms";
constexpr size_t kMaxTimeoutDigits = 10;

}  // namespace

absl::string_view ContentType(ConnectCodec codec, bool streams) {
  if (codec == ConnectCodec::kJson) {
    return streams ? "application/connect+json" : "application/json";
  }
  return streams ? "application/connect+proto" : "application/proto";
}

absl::StatusOr<ConnectCodec> CodecOf(const HttpRequest& head, bool streams) {
  absl::string_view type = head.Header("Content-Type").value_or("");
  type = absl::StripAsciiWhitespace(type.substr(0, type.find(';')));
  for (const ConnectCodec codec : {ConnectCodec::kJson, ConnectCodec::kProto}) {
    if (absl::EqualsIgnoreCase(type, ContentType(codec, streams))) return codec;
  }
  return FieldError(
      "Content-Type",
      absl::StrCat("must be once, ", ContentType(ConnectCodec::kJson, streams),
                   " or ", ContentType(ConnectCodec::kProto, streams)));
}

absl::Status CheckConnectHead(const HttpRequest& head, bool streams) {
  if (head.Header(kVersionHeader).value_or("1") != "1") {
    return FieldError(kVersionHeader, "must be 1");
  }
  const char* name = streams ? "Connect-Content-Encoding" : "Content-Encoding";
  if (head.Header(name).value_or("identity") != "identity") {
    return absl::UnimplementedError(
        absl::StrCat(name, " must be identity, the only encoding supported"));
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Duration> ConnectTimeout(const HttpRequest& head) {
  const auto header = head.Header(kTimeoutHeader);
  if (!header) return absl::InfiniteDuration();
  int64_t milliseconds = 0;
  if (header->size() > kMaxTimeoutDigits ||
      !std::all_of(header->begin(), header->end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(*header, &milliseconds)) {
    return FieldError(kTimeoutHeader,
                      absl::StrCat("must be once, an integer of at most ",
                                   kMaxTimeoutDigits, " digits"));
  }
  return absl::Milliseconds(milliseconds);
}

}  // namespace attend
