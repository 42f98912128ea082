#ifndef ATTEND_SERVER_GRPC_FIELD_RULES_H_
#define ATTEND_SERVER_GRPC_FIELD_RULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace attend {

// The rules of RFC 9113, section 8, and of gRPC's protocol for the headers of a
// call, of which libgrpc checks few: of two paths it takes the last one, where
// a proxy may have looked at the first one, and it serves a call without a
// deadline if it cannot read the deadline. Not thread-safe.
class FieldRules {
 public:
  // The next header is the first one of a block.
  void BeginBlock();
  // Returns INVALID_ARGUMENT if the next header makes the call malformed.
  absl::Status Check(absl::string_view name, absl::string_view value);

 private:
  absl::Status CheckPseudo(absl::string_view name);

  // State of the block.
  uint32_t pseudo_ = 0;     // bits of the pseudo-headers that have come
  bool has_other_ = false;  // a header that is no pseudo-header has come
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_FIELD_RULES_H_
