#ifndef ATTEND_SERVER_TENANTS_KEY_CHECK_H_
#define ATTEND_SERVER_TENANTS_KEY_CHECK_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/tenants/tenants.h"

namespace attend {

// Returns true if a header Authorization has an accepted key. Null: no key
// is needed. Thread-safe.
using KeyCheck = std::function<bool(absl::string_view authorization)>;

// For the key that has this SHA-256 in hexadecimal and, if `tenants` is not
// null, for the keys of all tenants; for none where there is no memory. Null if
// `sha256` is no such hash. `tenants` must outlive what is returned.
KeyCheck NewKeyCheck(const std::string& sha256,
                     const Tenants* tenants = nullptr);

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_KEY_CHECK_H_
