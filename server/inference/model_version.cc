#include "server/inference/model_version.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/quoted.h"

namespace attend {

std::string VersionText(const ModelEntry& model) {
  return absl::StrCat(model.version);
}

absl::StatusOr<const ModelEntry*> FindVersion(const Service& service,
                                              CallContext& context,
                                              absl::string_view name,
                                              absl::string_view version) {
  const std::string own =
      name.empty() ? service.models.DefaultName() : std::string(name);
  const TenantAccount& tenant = context.account();
  // A version that is served beside the one that the name means.
  const std::string beside = absl::StrCat(own, "@", version);
  if (tenant.MayUse(beside) && service.models.Find(beside) != nullptr) {
    return service.FindEntry(beside, context);
  }
  // An alias of the model's name has no say in this.
  if (SharedModel itself = service.models.Find(own);
      itself != nullptr && version == VersionText(*itself) &&
      context.model() == nullptr && tenant.MayUse(own)) {
    context.SetModel(std::move(itself), own);
    return context.model();
  }
  ASSIGN_OR_RETURN(const ModelEntry* entry, service.FindEntry(name, context));
  if (version.empty() || version == VersionText(*entry)) return entry;
  return absl::NotFoundError(
      absl::StrFormat("model '%s' has no version %s, its version is %s",
                      entry->name, Quoted(version), VersionText(*entry)));
}

absl::StatusOr<const ModelEntry*> FindServedVersion(const Service& service,
                                                    CallContext& context,
                                                    absl::string_view name,
                                                    absl::string_view version) {
  ASSIGN_OR_RETURN(const ModelEntry* entry,
                   FindVersion(service, context, name, version));
  RETURN_IF_ERROR(service.Find(entry->name, context).status());
  return entry;
}

}  // namespace attend
