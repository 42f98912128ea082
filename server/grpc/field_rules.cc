#include "server/grpc/field_rules.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/algorithm/container.h"
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
  pseudo_ = 0;
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
  if (absl::c_linear_search(kOfConnection, name)) {
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
  const auto known =
      std::find(std::begin(kPseudoHeaders), std::end(kPseudoHeaders), name);
  const uint32_t bit = uint32_t{1} << (known - std::begin(kPseudoHeaders));
  if (known == std::end(kPseudoHeaders) || has_other_ || (pseudo_ & bit) != 0) {
    return absl::InvalidArgumentError(
        "a pseudo-header is unknown, is there twice, or comes after other "
        "headers");
  }
  pseudo_ |= bit;
  return absl::OkStatus();
}

}  // namespace attend
