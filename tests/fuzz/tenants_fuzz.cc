// The file of tenants and the hashes of their keys.
#include <set>

#include "server/tenants/tenant_settings.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const auto tenants = ParseTenants("t.json", View(data, size));
  if (!Accepted(tenants.status(), "t.json")) return 0;
  std::set<std::string> names;
  std::set<KeyHash> keys;
  std::set<std::string> certificates;
  ATTEND_CHECK(tenants->size() <= kMaxTenants);
  for (const TenantSettings& tenant : *tenants) {
    ATTEND_CHECK(names.insert(tenant.name).second);
    ATTEND_CHECK(!tenant.keys.empty() || !tenant.certificates.empty());
    for (const KeyHash& key : tenant.keys) {
      ATTEND_CHECK(keys.insert(key).second);
    }
    for (const std::string& certificate : tenant.certificates) {
      ATTEND_CHECK(certificates.insert(certificate).second);
    }
    ATTEND_CHECK(tenant.weight >= 1 && tenant.weight <= 1000);
    for (const auto& rate : {tenant.calls, tenant.tokens}) {
      ATTEND_CHECK(!rate || (rate->per_second > 0 && rate->burst >= 1));
    }
  }
  return 0;
}
