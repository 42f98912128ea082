#include "server/grpc/field_rules.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

constexpr absl::string_view kPseudoHeaders[] = {":method", ":scheme", ":path",
                                                ":authority"};

// Headers of a connection of HTTP/1.1.
constexpr absl::string_view kOfConnection[] = {"connection", "keep-alive",
                                               "proxy-connection",
                                               "transfer-encoding", "upgrade"};

template <size_t count>
bool IsIn(absl::string_view name, const absl::string_view (&names)[count]) {
  return std::find(names, names + count, name) != names + count;
}

const uint8_t* BytesOf(absl::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// Values whose names end in -bin are of any bytes.
bool IsValid(absl::string_view name, absl::string_view value) {
  if (nghttp2_check_header_name(BytesOf(name), name.size()) == 0) return false;
  return absl::EndsWith(name, "-bin") ||
         nghttp2_check_header_value(BytesOf(value), value.size()) != 0;
}

// "Timeout" of gRPC's protocol over HTTP/2.
bool IsTimeout(absl::string_view value) {
  constexpr size_t kMaxDigits = 8;
  constexpr absl::string_view kUnits = "HMSmun";
  if (value.empty() || !absl::StrContains(kUnits, value.back())) return false;
  value.remove_suffix(1);
  return !value.empty() && value.size() <= kMaxDigits &&
         std::all_of(value.begin(), value.end(), absl::ascii_isdigit);
}

}  // namespace

void FieldRules::BeginBlock() {
  pseudo_.clear();
  has_other_ = false;
}

absl::Status FieldRules::Check(absl::string_view name,
                               absl::string_view value) {
  if (!IsValid(name, value)) {
    return absl::InvalidArgumentError(
        "the key or the value of metadata has a character that it may not "
        "have; keys have lower-case letters");
  }
  if (absl::StartsWith(name, ":")) return CheckPseudo(name);
  has_other_ = true;
  if (IsIn(name, kOfConnection)) {
    return absl::InvalidArgumentError(
        absl::StrCat("HTTP/2 has no header ", name));
  }
  if (name == "grpc-timeout" && !IsTimeout(value)) {
    return absl::InvalidArgumentError(
        "grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n");
  }
  return absl::OkStatus();
}

absl::Status FieldRules::CheckPseudo(absl::string_view name) {
  if (!IsIn(name, kPseudoHeaders) || has_other_ ||
      !pseudo_.insert(std::string(name)).second) {
    return absl::InvalidArgumentError(
        "a pseudo-header is unknown, is there twice, or comes after other "
        "headers");
  }
  return absl::OkStatus();
}

}  // namespace attend
