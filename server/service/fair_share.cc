#include "server/service/fair_share.h"

#include "absl/hash/hash.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace attend {

absl::StatusOr<FairShare> ParseFairShare(absl::string_view name) {
  for (const FairShare value : {FairShare::kAddress, FairShare::kNone}) {
    if (name == FairShareName(value)) return value;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", absl::CHexEscape(name.substr(0, 200)), "' is not address or none"));
}

absl::string_view FairShareName(FairShare fair_share) {
  return fair_share == FairShare::kAddress ? "address" : "none";
}

Tenant TenantOf(FairShare fair_share, absl::string_view host) {
  if (fair_share == FairShare::kNone) return {};
  // Abseil's hash differs from process to process, so nobody can look for
  // addresses that share a number.
  return {.id = absl::Hash<absl::string_view>()(host)};
}

std::string AddressOf(absl::string_view host) {
  if (absl::ConsumePrefix(&host, "ipv6:")) {
    for (const char* bracket : {"[", "%5B"}) {
      if (absl::ConsumePrefix(&host, bracket)) break;
    }
    for (const char* bracket : {"]", "%5D"}) {
      if (absl::ConsumeSuffix(&host, bracket)) break;
    }
  } else {
    absl::ConsumePrefix(&host, "ipv4:");
  }
  return std::string(host);
}

}  // namespace attend
