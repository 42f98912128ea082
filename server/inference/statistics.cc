#include <memory>
#include <string>

#include "absl/time/time.h"
#include "engine/tensor/status_macros.h"
#include "inference/grpc_service.pb.h"
#include "server/inference/methods.h"
#include "server/inference/model_version.h"
#include "server/service/immediate_handler.h"

namespace attend {
namespace {

void Fill(int64_t count, absl::Duration time,
          inference::StatisticDuration& to) {
  to.set_count(count);
  to.set_ns(absl::ToInt64Nanoseconds(time));
}

void AddModel(const ModelEntry& model,
              inference::ModelStatisticsResponse& response) {
  inference::ModelStatistics& statistics = *response.add_model_stats();
  statistics.set_name(model.name);
  statistics.set_version(VersionText(model));
  if (!model.served.ok()) return;
  const InferenceTotals totals = model.served->metrics.inference_totals();
  if (totals.last != absl::InfinitePast()) {
    statistics.set_last_inference(absl::ToUnixMillis(totals.last));
  }
  statistics.set_inference_count(totals.inputs);
  statistics.set_execution_count(totals.steps);
  auto& times = *statistics.mutable_inference_stats();
  const int64_t count = totals.succeeded.count;
  Fill(count, totals.succeeded.time, *times.mutable_success());
  Fill(totals.failed.count, totals.failed.time, *times.mutable_fail());
  Fill(count, totals.parts.queue, *times.mutable_queue());
  Fill(count, totals.parts.read, *times.mutable_compute_input());
  Fill(count, totals.parts.compute, *times.mutable_compute_infer());
  Fill(count, totals.parts.answer, *times.mutable_compute_output());
}

absl::StatusOr<inference::ModelStatisticsResponse> ModelStatistics(
    const Service& service, CallContext& context,
    const inference::ModelStatisticsRequest& request) {
  inference::ModelStatisticsResponse response;
  if (!request.name().empty()) {
    ASSIGN_OR_RETURN(
        const ModelEntry* model,
        FindVersion(service, context, request.name(), request.version()));
    AddModel(*model, response);
    return response;
  }
  for (const SharedModel& model : service.models.All()) {
    if (context.account().MayUse(model->name)) AddModel(*model, response);
  }
  return response;
}

}  // namespace

std::unique_ptr<Handler> NewModelStatisticsHandler(const Service& service,
                                                   CallContext& context) {
  return NewImmediateHandler(service, context, ModelStatistics);
}

}  // namespace attend
