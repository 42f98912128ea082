#ifndef ATTEND_SERVER_SERVICE_SERVICE_H_
#define ATTEND_SERVER_SERVICE_SERVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/observability/log.h"
#include "server/observability/model_metrics.h"
#include "server/scheduler/scheduler.h"
#include "server/service/handler.h"

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

// What the methods of attend.v1 need. Borrows, as ServedModel does.
struct Service {
  std::vector<ModelEntry> models;  // at least one; the default first
  const Clock& clock;
  CallMetrics& other_calls;  // those that belong to no entry
  Log& log;
  int max_batch_inputs = 256;

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

// The work behind one call of each method. `context` outlives the handler.
template <class Request, class Response>
using HandlerPtr = std::unique_ptr<Handler<Request, Response>>;

HandlerPtr<v1::GenerateRequest, v1::GenerateResponse> NewGenerateHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::GenerateRequest, v1::GenerateChunk> NewGenerateStreamHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::ScoreRequest, v1::ScoreResponse> NewScoreHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::EmbedRequest, v1::EmbedResponse> NewEmbedHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::ClassifyRequest, v1::ClassifyResponse> NewClassifyHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::FillMaskRequest, v1::FillMaskResponse> NewFillMaskHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::RerankRequest, v1::RerankResponse> NewRerankHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::TokenizeRequest, v1::TokenizeResponse> NewTokenizeHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::DetokenizeRequest, v1::DetokenizeResponse> NewDetokenizeHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::ListModelsRequest, v1::ListModelsResponse> NewListModelsHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::GetModelRequest, v1::Model> NewGetModelHandler(
    const Service& service, CallContext& context);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SERVICE_H_
