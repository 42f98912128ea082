#ifndef ATTEND_SERVER_SERVICE_SERVICE_H_
#define ATTEND_SERVER_SERVICE_SERVICE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/api/engine.h"
#include "engine/grammar/grammar_compiler.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/observability/log.h"
#include "server/observability/model_metrics.h"
#include "server/scheduler/scheduler.h"
#include "server/service/call_context.h"
#include "server/service/fair_share.h"
#include "server/service/methods.h"
#include "server/tenants/tenants.h"
#include "server/tracing/tracer.h"

namespace attend {

// One loaded model, and the objects that serve it. Everything that a
// ServedModel refers to must outlive the server.
struct ServedModel {
  const Engine& engine;
  const Tokenizer& tokenizer;
  Scheduler& scheduler;
  ModelMetrics& metrics;
  const ChatTemplate* chat = nullptr;  // null: the model has none
  // Null: the model does not generate.
  const GrammarCompiler* grammars = nullptr;

  const ModelInfo& info() const { return engine.info(); }
};

// A model that requests may name, whether the model could be loaded or not. An
// entry outlives all calls that name its model.
struct ModelEntry {
  std::string name;
  CallMetrics& calls;
  absl::StatusOr<ServedModel> served;  // the error: why it did not load

  // Whether the model takes requests, and can compute them.
  bool ready() const { return served.ok() && !served->scheduler.failing(); }
};

// All models, and everything else that methods need. Everything that a Service
// refers to must outlive the server. Constant while calls run.
struct Service {
  std::vector<ModelEntry> models;  // at least one; the default first
  const Clock& clock;
  CallMetrics& other_calls;  // of calls that belong to no entry
  Log& log;
  std::string version = "";           // of the build
  int max_batch_inputs = 256;         // of one call
  int max_document_sentences = 8192;  // of all documents of one call
  FairShare fair_share = FairShare::kAddress;
  // The tenants of the file of tenants: each call needs the key of a tenant.
  // Null: there is no such file; calls need no key, and `fair_share` says of
  // which tenant a call is.
  const Tenants* tenants = nullptr;
  // Records what calls do. Null: nobody collects traces.
  Tracer* tracer = nullptr;
  // The methods of all protocols. Each protocol serves the methods of its own
  // services.
  std::vector<Method> methods = AttendMethods();

  // The model of that name (empty: the default model), whether the model could
  // be loaded or not. Notes in `context` that the call is for this model.
  // NOT_FOUND if there is no such model; the error lists the models that are
  // served and that the tenant may use. PERMISSION_DENIED if the tenant may not
  // use the model.
  absl::StatusOr<const ModelEntry*> FindEntry(absl::string_view name,
                                              CallContext& context) const;
  // The same for a caller that needs the loaded model. UNAVAILABLE, with the
  // reason, if the model could not be loaded.
  absl::StatusOr<const ServedModel*> Find(absl::string_view name,
                                          CallContext& context) const;
  // INVALID_ARGUMENT unless `count`, the number of entries of `field`, is in
  // [1, max_batch_inputs].
  absl::Status CheckCount(absl::string_view field, int count) const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SERVICE_H_
