#ifndef ATTEND_SERVER_GRPC_GRPC_WEAKNESSES_H_
#define ATTEND_SERVER_GRPC_GRPC_WEAKNESSES_H_

#include "absl/strings/string_view.h"

namespace attend {

// Whether a gRPC of this version ("1.51.1") has CVE-2023-33953 and
// CVE-2023-4785. The patches 1.53.2, 1.54.3, 1.55.3 and 1.56.2 mended both, and
// later versions do not have them.
bool HasKnownWeaknesses(absl::string_view version);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_GRPC_WEAKNESSES_H_
