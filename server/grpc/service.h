#ifndef ATTEND_SERVER_GRPC_SERVICE_H_
#define ATTEND_SERVER_GRPC_SERVICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "engine/engine.h"
#include "engine/tokenizer/tokenizer.h"
#include "server/grpc/handler.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/scheduler/scheduler.h"

namespace attend {

// What the methods of attend.v1 need: one model and what serves it. Borrows
// everything; all of it must outlive the server.
struct Service {
  const Engine& engine;
  const Tokenizer& tokenizer;
  Scheduler& scheduler;
  const Clock& clock;
  Metrics& metrics;
  Log& log;
  int max_batch_inputs = 256;

  const ModelInfo& model() const { return engine.info(); }
  // OK if `name` is empty or this model's; else NOT_FOUND.
  absl::Status CheckModel(absl::string_view name) const;
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
HandlerPtr<v1::TokenizeRequest, v1::TokenizeResponse> NewTokenizeHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::DetokenizeRequest, v1::DetokenizeResponse> NewDetokenizeHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::ListModelsRequest, v1::ListModelsResponse> NewListModelsHandler(
    const Service& service, CallContext& context);
HandlerPtr<v1::GetModelRequest, v1::Model> NewGetModelHandler(
    const Service& service, CallContext& context);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_SERVICE_H_
