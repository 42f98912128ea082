#include "server/tenants/tenant_settings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr size_t kMaxModels = 1000;
constexpr IntRange kWeights = {1, 1000};
constexpr IntRange kInputs = {1, 1'000'000};
constexpr IntRange kPriorities = {-kMaxPriority, kMaxPriority};
constexpr FloatRange kRates = {0.001, 1e9};
constexpr FloatRange kBursts = {1, 1e9};

absl::Status Error(const JsonFile& entry, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(entry.path(), ": ", what));
}

absl::StatusOr<std::string> ReadName(const JsonFile& entry) {
  ASSIGN_OR_RETURN(std::string name, entry.String("name"));
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  });
  if (plain && !name.empty() && name.size() <= kMaxNameBytes) return name;
  return entry.Unexpected(
      "name", absl::StrCat("1 to ", kMaxNameBytes,
                           " characters of a-z, A-Z, 0-9, ., _, -"));
}

absl::StatusOr<std::vector<KeyHash>> ReadKeys(const JsonFile& entry) {
  const auto texts = entry.Strings("keys");
  if (!texts.ok() || texts->empty() || texts->size() > kMaxKeysOfTenant) {
    return Error(entry, absl::StrCat("keys is not a list of 1 to ",
                                     kMaxKeysOfTenant, " strings"));
  }
  std::vector<KeyHash> keys;
  for (const std::string& text : *texts) {
    const auto hash = ParseKeyHash(text);
    if (!hash.has_value()) {
      return Error(entry,
                   absl::StrCat("keys[", keys.size(), "] has ", text.size(),
                                " bytes, expected the 64 hexadecimal digits of "
                                "the SHA-256 of a key"));
    }
    keys.push_back(*hash);
  }
  return keys;
}

absl::StatusOr<std::vector<std::string>> ReadCertificates(
    const JsonFile& entry) {
  if (!entry.Has("certificates")) return std::vector<std::string>();
  ASSIGN_OR_RETURN(std::vector<std::string> names,
                   entry.Strings("certificates"));
  if (names.empty() || names.size() > kMaxCertificatesOfTenant) {
    return entry.Unexpected("certificates",
                            absl::StrCat("1 to ", kMaxCertificatesOfTenant,
                                         " names in certificates"));
  }
  for (const std::string& name : names) {
    if (!name.empty() && name.size() <= kMaxCertificateNameBytes &&
        std::none_of(name.begin(), name.end(), absl::ascii_iscntrl)) {
      continue;
    }
    return Error(entry,
                 absl::StrCat("certificates has '",
                              absl::CHexEscape(name.substr(0, kMaxNameBytes)),
                              "' of ", name.size(), " bytes, expected 1 to ",
                              kMaxCertificateNameBytes,
                              " bytes without control characters"));
  }
  return names;
}

absl::StatusOr<std::optional<RateLimit>> ReadRate(const JsonFile& entry,
                                                  absl::string_view rate,
                                                  absl::string_view burst) {
  if (!entry.Has(rate)) {
    if (!entry.Has(burst)) return std::nullopt;
    return Error(entry, absl::StrCat(burst, " is there without ", rate));
  }
  RateLimit limit;
  ASSIGN_OR_RETURN(limit.per_second, entry.Float(rate, kRates));
  ASSIGN_OR_RETURN(
      limit.burst,
      entry.FloatOr(burst, std::max(limit.per_second, kBursts.min), kBursts));
  return limit;
}

absl::StatusOr<std::optional<std::vector<std::string>>> ReadModels(
    const JsonFile& entry) {
  if (!entry.Has("models")) return std::nullopt;
  ASSIGN_OR_RETURN(std::vector<std::string> models, entry.Strings("models"));
  if (models.empty() || models.size() > kMaxModels) {
    return entry.Unexpected("models",
                            absl::StrCat("1 to ", kMaxModels, " names"));
  }
  return models;
}

absl::StatusOr<TenantSettings> ReadTenant(const JsonFile& entry) {
  RETURN_IF_ERROR(entry.ExpectOnly(
      {"name", "keys", "certificates", "weight", "calls_per_second",
       "call_burst", "tokens_per_second", "token_burst", "max_queued_inputs",
       "max_running_inputs", "models", "max_priority", "administrator"}));
  TenantSettings tenant;
  ASSIGN_OR_RETURN(tenant.name, ReadName(entry));
  ASSIGN_OR_RETURN(tenant.certificates, ReadCertificates(entry));
  if (entry.Has("keys") || tenant.certificates.empty()) {
    ASSIGN_OR_RETURN(tenant.keys, ReadKeys(entry));
  }
  ASSIGN_OR_RETURN(tenant.weight,
                   entry.IntOr("weight", tenant.weight, kWeights));
  ASSIGN_OR_RETURN(tenant.calls,
                   ReadRate(entry, "calls_per_second", "call_burst"));
  ASSIGN_OR_RETURN(tenant.tokens,
                   ReadRate(entry, "tokens_per_second", "token_burst"));
  ASSIGN_OR_RETURN(
      tenant.max_queued_inputs,
      entry.IntOr("max_queued_inputs", tenant.max_queued_inputs, kInputs));
  ASSIGN_OR_RETURN(
      tenant.max_running_inputs,
      entry.IntOr("max_running_inputs", tenant.max_running_inputs, kInputs));
  ASSIGN_OR_RETURN(tenant.models, ReadModels(entry));
  ASSIGN_OR_RETURN(
      tenant.max_priority,
      entry.IntOr("max_priority", tenant.max_priority, kPriorities));
  ASSIGN_OR_RETURN(tenant.administrator, entry.BoolOr("administrator", false));
  return tenant;
}

// The error with the tenant's name, if it has one.
absl::Status Named(const JsonFile& entry, const absl::Status& status) {
  const auto name = entry.String("name");
  if (!name.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat(status.message(), " (tenant '",
                   absl::CHexEscape(name->substr(0, kMaxNameBytes)), "')"));
}

// A client belongs to one tenant.
absl::Status CheckCertificates(const std::string& file,
                               const std::vector<TenantSettings>& tenants) {
  std::map<absl::string_view, absl::string_view> owners;
  for (const TenantSettings& tenant : tenants) {
    for (const std::string& name : tenant.certificates) {
      const auto [at, is_new] = owners.emplace(name, tenant.name);
      if (is_new) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": certificates of tenant '", tenant.name,
                       "' has '", absl::CHexEscape(name),
                       "', which is of tenant '", at->second, "' already"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckUnique(const std::string& file,
                         const std::vector<TenantSettings>& tenants) {
  std::set<std::string> names;
  std::map<KeyHash, std::string> owners;
  for (const TenantSettings& tenant : tenants) {
    if (!names.insert(tenant.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          file, ": two tenants have the name '", tenant.name, "'"));
    }
    for (size_t i = 0; i < tenant.keys.size(); ++i) {
      const auto [at, is_new] = owners.emplace(tenant.keys[i], tenant.name);
      if (is_new) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": keys[", i, "] of tenant '", tenant.name,
                       "' is a key of tenant '", at->second, "' already"));
    }
  }
  if (owners.size() <= kMaxKeys) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(file, ": the tenants have ",
                                                 owners.size(),
                                                 " keys, limit is ", kMaxKeys));
}

// The error does not show what the parser has read last, because that may be a
// key.
absl::StatusOr<JsonFile> ParseFile(const std::string& name,
                                   absl::string_view text) {
  if (text.size() > kMaxTenantFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": ", text.size(), " bytes, limit is ", kMaxTenantFileBytes));
  }
  if (!absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{")) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is not a json object: it begins without {"));
  }
  absl::StatusOr<JsonFile> file = JsonFile::Parse(name, text);
  if (file.ok()) return file;
  const absl::string_view message = file.status().message();
  return absl::InvalidArgumentError(
      message.substr(0, message.find("; last read")));
}

}  // namespace

absl::StatusOr<std::vector<TenantSettings>> ParseTenants(
    const std::string& name, absl::string_view text) {
  ASSIGN_OR_RETURN(const JsonFile file, ParseFile(name, text));
  RETURN_IF_ERROR(file.ExpectOnly({"tenants"}));
  const auto entries = file.Objects("tenants");
  if (!entries.ok() || entries->empty() || entries->size() > kMaxTenants) {
    return Error(file, absl::StrCat("tenants is not a list of 1 to ",
                                    kMaxTenants, " objects"));
  }
  std::vector<TenantSettings> tenants;
  for (const JsonFile& entry : *entries) {
    absl::StatusOr<TenantSettings> tenant = ReadTenant(entry);
    if (!tenant.ok()) return Named(entry, tenant.status());
    tenants.push_back(*std::move(tenant));
  }
  RETURN_IF_ERROR(CheckUnique(name, tenants));
  RETURN_IF_ERROR(CheckCertificates(name, tenants));
  return tenants;
}

}  // namespace attend
