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
#include "server/service/methods.h"

namespace attend {

// One model and what serves it. Borrows everything; all of it must outlive the
// server.
struct ServedModel {
  const Engine& engine;
  const Tokenizer& tokenizer;
  Scheduler& scheduler;
  ModelMetrics& metrics;
  const ChatTemplate* chat = nullptr;  // null: it does not chat

  const ModelInfo& info() const { return engine.info(); }
};

// A model that requests may name, whether it could be loaded or not. Outlives
// the calls that found it.
struct ModelEntry {
  std::string name;
  CallMetrics& calls;
  absl::StatusOr<ServedModel> served;  // or why it could not be loaded
};

// What is served, and what the methods need for it. Borrows, as ServedModel
// does.
struct Service {
  std::vector<ModelEntry> models;  // at least one; the default first
  const Clock& clock;
  CallMetrics& other_calls;  // those that belong to no entry
  Log& log;
  int max_batch_inputs = 256;
  // Of all protocols; each carries those of its own services.
  std::vector<Method> methods = AttendMethods();

  // The entry of that name; empty: the default. From here on `context` is a
  // call of that model. NOT_FOUND names those that are served.
  absl::StatusOr<const ModelEntry*> FindEntry(absl::string_view name,
                                              CallContext& context) const;
  // The same, of a model that is served: else UNAVAILABLE with the reason.
  absl::StatusOr<const ServedModel*> Find(absl::string_view name,
                                          CallContext& context) const;
  // OK if a call may have `count` entries of `field`.
  absl::Status CheckCount(absl::string_view field, int count) const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SERVICE_H_
