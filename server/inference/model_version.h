#ifndef ATTEND_SERVER_INFERENCE_MODEL_VERSION_H_
#define ATTEND_SERVER_INFERENCE_MODEL_VERSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/service/service.h"

namespace attend {

// A model's version, as this protocol has it.
std::string VersionText(const ModelEntry& model);

// Service::FindEntry() for a request that may name a version. NOT_FOUND also
// if that is another one.
absl::StatusOr<const ModelEntry*> FindVersion(const Service& service,
                                              CallContext& context,
                                              absl::string_view name,
                                              absl::string_view version);
// Service::Find(), likewise: the entry of a model that could be loaded.
absl::StatusOr<const ModelEntry*> FindServedVersion(const Service& service,
                                                    CallContext& context,
                                                    absl::string_view name,
                                                    absl::string_view version);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_MODEL_VERSION_H_
