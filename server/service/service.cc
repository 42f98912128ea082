#include "server/service/service.h"

#include <cstddef>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// A status message travels in metadata, which clients limit to some KiB.
constexpr size_t kMaxListedModels = 20;
constexpr size_t kMaxReasonBytes = 1000;

// The names of the models that are served and that the tenant may use: "'a',
// 'b' and 3 more", or "none".
std::string ListServed(const ModelTable& models, const TenantAccount& tenant) {
  std::string list;
  size_t served = 0;
  for (const SharedModel& model : models.All()) {
    if (!model->served.ok() || !tenant.MayUse(model->name)) continue;
    if (served++ >= kMaxListedModels) continue;
    absl::StrAppend(&list, list.empty() ? "" : ", ", "'", model->name, "'");
  }
  if (served > kMaxListedModels) {
    absl::StrAppend(&list, " and ", served - kMaxListedModels, " more");
  }
  return served == 0 ? "none" : list;
}

absl::Status NotServed(absl::string_view name, const ModelTable& models,
                       const TenantAccount& tenant) {
  return absl::NotFoundError(
      name.empty()
          ? absl::StrCat("the default model is not served, the models are: ",
                         ListServed(models, tenant))
          : absl::StrFormat("model '%s' is not served, the models are: %s",
                            absl::CHexEscape(name.substr(0, 100)),
                            ListServed(models, tenant)));
}

}  // namespace

// A tenant that may not use a model is told the same as where there is none:
// else answers would tell which models others have.
absl::StatusOr<const ModelEntry*> Service::FindEntry(
    absl::string_view name, CallContext& context) const {
  const ModelEntry* const known = context.model();
  if (known != nullptr &&
      (name.empty() || known->name == name || context.called() == name)) {
    return known;
  }
  const std::string called =
      name.empty() ? models.DefaultName() : std::string(name);
  SharedModel found = context.account().CheckModel(called).ok()
                          ? models.Choose(called)
                          : nullptr;
  if (found == nullptr) return NotServed(name, models, context.account());
  context.SetModel(std::move(found), called);
  return context.model();
}

absl::StatusOr<const ServedModel*> Service::Find(absl::string_view name,
                                                 CallContext& context) const {
  ASSIGN_OR_RETURN(const ModelEntry* entry, FindEntry(name, context));
  if (entry->served.ok()) return &*entry->served;
  return absl::UnavailableError(absl::StrFormat(
      "model '%s' could not be loaded: %s", entry->name,
      entry->served.status().message().substr(0, kMaxReasonBytes)));
}

absl::Status Service::CheckCount(absl::string_view field, int count) const {
  if (count >= 1 && count <= max_batch_inputs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has %d entries, must be 1 to %d (max_batch_inputs)",
                      field, count, max_batch_inputs));
}

absl::Status Service::CheckManyInputs(absl::string_view field,
                                      int64_t count) const {
  const int64_t most = max_many_inputs();
  if (count >= 1 && count <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has %d entries, must be 1 to %d, which is what %d bytes hold "
      "(max_call_bytes)",
      field, count, most, max_call_bytes));
}

}  // namespace attend
