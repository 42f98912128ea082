#include "server/grpc/service.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

namespace attend {

absl::Status Service::CheckModel(absl::string_view name) const {
  if (name.empty() || name == model().name) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrFormat("model '%s' is not served here; there is '%s'",
                      absl::CHexEscape(name.substr(0, 100)), model().name));
}

absl::Status Service::CheckCount(absl::string_view field, int count) const {
  if (count >= 1 && count <= max_batch_inputs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has %d entries, must be 1 to %d (max_batch_inputs)",
                      field, count, max_batch_inputs));
}

}  // namespace attend
