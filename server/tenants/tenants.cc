#include "server/tenants/tenants.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace attend {

struct Tenants::Table {
  struct Key {
    KeyHash hash;
    std::shared_ptr<TenantAccount> owner;
  };
  std::map<std::string, std::shared_ptr<TenantAccount>> accounts;  // by name
  std::vector<Key> keys;
};

Tenants::Tenants(Metrics& metrics)
    : metrics_(metrics), table_(std::make_shared<Table>()) {}

std::shared_ptr<const Tenants::Table> Tenants::table() const {
  std::lock_guard lock(mutex_);
  return table_;
}

void Tenants::Set(std::vector<TenantSettings> settings, absl::Time now) {
  const std::shared_ptr<const Table> before = table();
  auto after = std::make_shared<Table>();
  for (TenantSettings& tenant : settings) {
    const std::string name = tenant.name;
    const std::vector<KeyHash> keys = tenant.keys;
    const auto old = before->accounts.find(name);
    const auto account = std::make_shared<TenantAccount>(
        std::move(tenant),
        old == before->accounts.end() ? nullptr : old->second.get(),
        metrics_.AddTenant(name), now);
    after->accounts.emplace(name, account);
    for (const KeyHash& key : keys) after->keys.push_back({key, account});
  }
  std::lock_guard lock(mutex_);
  table_ = std::move(after);
}

absl::StatusOr<std::shared_ptr<TenantAccount>> Tenants::Find(
    absl::string_view authorization) const {
  const std::optional<absl::string_view> key = BearerKey(authorization);
  if (!key.has_value()) {
    return absl::UnauthenticatedError(
        "the call has no key: metadata 'authorization' must be 'Bearer KEY'");
  }
  const KeyHash hash = HashKey(*key);
  const std::shared_ptr<const Table> now = table();
  const Table::Key* found = nullptr;
  for (const Table::Key& known : now->keys) {
    if (SameHash(known.hash, hash)) found = &known;
  }
  if (found != nullptr) return found->owner;
  return absl::UnauthenticatedError("the call's key is not known");
}

}  // namespace attend
