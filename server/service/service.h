#ifndef ATTEND_SERVER_SERVICE_SERVICE_H_
#define ATTEND_SERVER_SERVICE_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/budget/request_budget.h"
#include "server/observability/access_log.h"
#include "server/observability/log.h"
#include "server/scheduler/clock.h"
#include "server/service/call_context.h"
#include "server/service/fair_share.h"
#include "server/service/methods.h"
#include "server/service/model_control.h"
#include "server/service/model_table.h"
#include "server/service/profile_control.h"
#include "server/tenants/key_check.h"
#include "server/tenants/tenants.h"
#include "server/tracing/tracer.h"

namespace attend {

// All models, and everything else that methods need. Everything that a Service
// refers to must outlive the server. Constant while calls run, but for the
// models, of which each call keeps its own.
struct Service {
  const ModelTable& models;
  const Clock& clock;
  CallMetrics& other_calls;  // of calls that belong to no entry
  Log& log;
  std::string version = "";  // of the build
  // Of one call of a method that generates, and in work at once of any call.
  int max_batch_inputs = 256;
  size_t max_call_bytes = size_t{256} << 20;    // see InputWindow
  int max_document_sentences = 8192;            // of all documents of one call
  size_t max_unread_bytes = size_t{256} << 20;  // see UnreadAnswers
  size_t max_request_bytes = kMaxRequestBytes;  // see RequestBudget
  FairShare fair_share = FairShare::kAddress;
  // The tenants of the file of tenants: each call needs the key of a tenant.
  // Null: there is no such file; calls need no key, and `fair_share` says of
  // which tenant a call is.
  const Tenants* tenants = nullptr;
  // Who may call grpc.health.v1. Null: everybody.
  KeyCheck may_see_health = nullptr;
  // Records what calls do. Null: nobody collects traces.
  Tracer* tracer = nullptr;
  // Has a line for each call. Null: nobody wants one.
  AccessLog* access_log = nullptr;
  // Loads and unloads models. Null: nobody does while calls run.
  ModelControl* control = nullptr;
  // Records profiles. Null: nobody does.
  ProfileControl* profiles = nullptr;
  // The methods of all protocols. Each protocol serves the methods of its own
  // services.
  std::vector<Method> methods = AttendMethods();

  // The model of that name (empty: the default model), or one of an alias's
  // targets, whether the model could be loaded or not. Notes in `context` that
  // the call is for this model, which thus lives as long as the call; who asks
  // again gets the same one, whatever has changed meanwhile. NOT_FOUND if there
  // is no such model, or the tenant may not use it; the error lists the models
  // that are served and that the tenant may use.
  absl::StatusOr<const ModelEntry*> FindEntry(absl::string_view name,
                                              CallContext& context) const;
  // The same for a caller that needs the loaded model. UNAVAILABLE, with the
  // reason, if the model could not be loaded.
  absl::StatusOr<const ServedModel*> Find(absl::string_view name,
                                          CallContext& context) const;
  // INVALID_ARGUMENT unless `count`, the number of entries of `field`, is in
  // [1, max_batch_inputs].
  absl::Status CheckCount(absl::string_view field, int count) const;
  // Bytes that an input without tokens and its result take.
  static constexpr size_t kInputBytes = 2048;
  // INVALID_ARGUMENT unless `count`, the number of entries of `field`, is at
  // least 1, and so many inputs, which an encoder reads, fit into
  // max_call_bytes.
  absl::Status CheckManyInputs(absl::string_view field, int64_t count) const;
  int64_t max_many_inputs() const {
    return static_cast<int64_t>(max_call_bytes / kInputBytes);
  }
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SERVICE_H_
