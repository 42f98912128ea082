#ifndef ATTEND_SERVER_SERVICE_CACHE_SALT_H_
#define ATTEND_SERVER_SERVICE_CACHE_SALT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"

namespace attend {

// Values of EngineRequest::cache_salt. Those of tenants and those that requests
// name differ in the highest bit, so that no name gives the salt of a tenant.
// No salt is 0.

// The salt of the tenant with this id.
uint64_t TenantSalt(uint64_t tenant);

// The salt that the request names; 0 if it names none. INVALID_ARGUMENT if the
// name is too long.
absl::StatusOr<uint64_t> NamedSalt(const v1::GenerationParams& params);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_CACHE_SALT_H_
