#include "server/tenants/tenants.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// Maximum number of bytes to print of a name that a client sent.
constexpr size_t kMaxShownBytes = 100;

}  // namespace

struct Tenants::Table {
  struct Key {
    KeyHash hash;
    std::shared_ptr<TenantAccount> owner;
  };
  std::map<std::string, std::shared_ptr<TenantAccount>> accounts;  // by name
  std::vector<Key> keys;
  std::map<std::string, std::shared_ptr<TenantAccount>> certificates;
};

Tenants::Tenants(Metrics& metrics)
    : metrics_(metrics), table_(std::make_shared<Table>()) {}

std::shared_ptr<const Tenants::Table> Tenants::table() const {
  MutexLock lock(mutex_);
  return table_;
}

void Tenants::Set(std::vector<TenantSettings> settings, absl::Time now) {
  const std::shared_ptr<const Table> before = table();
  auto after = std::make_shared<Table>();
  for (TenantSettings& tenant : settings) {
    const std::string name = tenant.name;
    const std::vector<KeyHash> keys = tenant.keys;
    const std::vector<std::string> certificates = tenant.certificates;
    const auto old = before->accounts.find(name);
    const auto account = std::make_shared<TenantAccount>(
        std::move(tenant),
        old == before->accounts.end() ? nullptr : old->second.get(),
        metrics_.AddTenant(name), now);
    after->accounts.emplace(name, account);
    for (const KeyHash& key : keys) after->keys.push_back({key, account});
    for (const std::string& certificate : certificates) {
      after->certificates.emplace(certificate, account);
    }
  }
  MutexLock lock(mutex_);
  table_ = std::move(after);
}

Tenants::Found Tenants::Find(const CallerProof& proof) const {
  const std::shared_ptr<const Table> now = table();
  if (proof.authorization.has_value()) {
    return FindByKey(*now, *proof.authorization);
  }
  if (proof.certificate_names.empty()) return FindByKey(*now, "");
  return FindByCertificate(*now, proof.certificate_names);
}

Tenants::Found Tenants::FindByKey(const Table& table,
                                  absl::string_view authorization) {
  const std::optional<absl::string_view> key = BearerKey(authorization);
  if (!key.has_value()) {
    return absl::UnauthenticatedError(
        "the call has no key: metadata 'authorization' must be 'Bearer KEY'");
  }
  const KeyHash hash = HashKey(*key);
  const Table::Key* found = nullptr;
  for (const Table::Key& known : table.keys) {
    if (SameHash(known.hash, hash)) found = &known;
  }
  if (found != nullptr) return found->owner;
  return absl::UnauthenticatedError("the call's key is not known");
}

Tenants::Found Tenants::FindByCertificate(
    const Table& table, const std::vector<std::string>& names) {
  std::shared_ptr<TenantAccount> owner;
  for (const std::string& name : names) {
    const auto found = table.certificates.find(name);
    if (found == table.certificates.end()) continue;
    if (owner != nullptr && owner != found->second) {
      return absl::UnauthenticatedError(absl::StrCat(
          "the names in the client's certificate are of several tenants: '",
          owner->name(), "' and '", found->second->name(), "'"));
    }
    owner = found->second;
  }
  if (owner != nullptr) return owner;
  return absl::UnauthenticatedError(
      absl::StrCat("the call has no key, and '",
                   absl::CHexEscape(names.front().substr(0, kMaxShownBytes)),
                   "' in its client's certificate is no tenant's"));
}

}  // namespace attend
