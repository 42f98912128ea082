#include "server/inference/model_version.h"

#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/quoted.h"

namespace attend {

absl::StatusOr<const ModelEntry*> FindVersion(const Service& service,
                                              CallContext& context,
                                              absl::string_view name,
                                              absl::string_view version) {
  ASSIGN_OR_RETURN(const ModelEntry* entry, service.FindEntry(name, context));
  if (version.empty() || version == kModelVersion) return entry;
  return absl::NotFoundError(
      absl::StrFormat("model '%s' has no version %s, its version is %s",
                      entry->name, Quoted(version), kModelVersion));
}

absl::StatusOr<const ServedModel*> FindServedVersion(
    const Service& service, CallContext& context, absl::string_view name,
    absl::string_view version) {
  RETURN_IF_ERROR(FindVersion(service, context, name, version).status());
  return service.Find(name, context);
}

}  // namespace attend
