#ifndef ATTEND_SERVER_SERVICE_SERVICE_H_
#define ATTEND_SERVER_SERVICE_SERVICE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/api/engine.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/observability/log.h"
#include "server/observability/model_metrics.h"
#include "server/scheduler/scheduler.h"
#include "server/service/call_context.h"
#include "server/service/fair_share.h"
#include "server/service/methods.h"
#include "server/tenants/tenants.h"

namespace attend {

// One loaded model, and what serves it. All that it refers to must outlive the
// server.
struct ServedModel {
  const Engine& engine;
  const Tokenizer& tokenizer;
  Scheduler& scheduler;
  ModelMetrics& metrics;
  const ChatTemplate* chat = nullptr;  // null: the model has none

  const ModelInfo& info() const { return engine.info(); }
};

// A model that requests may name, whether it could be loaded or not. Outlives
// all calls that name it.
struct ModelEntry {
  std::string name;
  CallMetrics& calls;
  absl::StatusOr<ServedModel> served;  // or why the model did not load
};

// All models, and what the methods need to serve them. What it refers to must
// outlive the server. Constant while calls run.
struct Service {
  std::vector<ModelEntry> models;  // at least one; the default first
  const Clock& clock;
  CallMetrics& other_calls;  // of calls that belong to no entry
  Log& log;
  int max_batch_inputs = 256;  // of one call
  FairShare fair_share = FairShare::kAddress;
  // Whose keys calls need, and who shares the models then. Null: calls need no
  // key, and `fair_share` counts.
  const Tenants* tenants = nullptr;
  // The methods of all protocols. Each protocol carries those of its services.
  std::vector<Method> methods = AttendMethods();

  // The model of that name (empty: the default), whether it could be loaded or
  // not. Notes in `context` that the call is for it. NOT_FOUND lists the models
  // that are served and that the tenant may use; PERMISSION_DENIED if this is
  // none of them.
  absl::StatusOr<const ModelEntry*> FindEntry(absl::string_view name,
                                              CallContext& context) const;
  // The same for a model that is needed. UNAVAILABLE, with the reason, if the
  // model could not be loaded.
  absl::StatusOr<const ServedModel*> Find(absl::string_view name,
                                          CallContext& context) const;
  // INVALID_ARGUMENT unless `count`, the number of entries of `field`, is in
  // [1, max_batch_inputs].
  absl::Status CheckCount(absl::string_view field, int count) const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SERVICE_H_
