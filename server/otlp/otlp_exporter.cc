#include "server/otlp/otlp_exporter.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/tensor/mutex.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "otlp/trace_service.grpc.pb.h"
#include "server/otlp/otlp_message.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(500);

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> Credentials(
    const TracingOptions& options) {
  if (!options.endpoint.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions tls;
  if (!options.ca_file.empty()) {
    std::ifstream file(options.ca_file);
    tls.pem_root_certs.assign(std::istreambuf_iterator<char>(file), {});
    if (tls.pem_root_certs.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no certificate of OTEL_EXPORTER_OTLP_CERTIFICATE (or "
                       "TRACES_CERTIFICATE) can be read from '",
                       options.ca_file, "'"));
    }
  }
  return grpc::SslCredentials(tls);
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> NewChannel(
    const TracingOptions& options, const std::string& version) {
  ASSIGN_OR_RETURN(const auto credentials, Credentials(options));
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix("attend-otlp/" + version);
  // A collector that comes back is found soon.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  if (options.gzip) arguments.SetCompressionAlgorithm(GRPC_COMPRESS_GZIP);
  return grpc::CreateCustomChannel(options.endpoint.target, credentials,
                                   arguments);
}

// OTLP names the codes after which a sender may try again.
bool MayRetry(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DATA_LOSS:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct OtlpExporter::Impl {
  Impl(const TracingOptions& options_in, std::string version_in,
       std::shared_ptr<grpc::Channel> channel, SpanQueue& queue_in,
       SpanMetrics& metrics_in, Log& log_in)
      : options(options_in),
        version(std::move(version_in)),
        stub(otlp::TraceService::NewStub(channel)),
        queue(queue_in),
        metrics(metrics_in),
        log(log_in) {
    spans.reserve(options.queue.max_batch_spans);
  }

  void Run();
  void Export();
  void Count(const grpc::Status& status, int sent,
             const otlp::ExportTracePartialSuccess& partial);
  void LogRejected(int rejected, const std::string& why);
  // Sends until it succeeds, or `deadline`, or an error that stays.
  grpc::Status Send(const otlp::ExportTraceServiceRequest& request,
                    absl::Time deadline,
                    otlp::ExportTraceServiceResponse& response);
  grpc::Status SendOnce(const otlp::ExportTraceServiceRequest& request,
                        absl::Time deadline,
                        otlp::ExportTraceServiceResponse& response);
  // False: the exporter ends.
  bool Pause(absl::Duration pause);

  const TracingOptions options;
  const std::string version;
  const std::unique_ptr<otlp::TraceService::Stub> stub;
  SpanQueue& queue;
  SpanMetrics& metrics;
  Log& log;
  // The thread's own.
  std::vector<Span> spans;  // the spans of an export
  bool failing = false;
  bool rejecting = false;

  Mutex mutex;
  std::condition_variable changed;
  // Context of the current call; null: there is none.
  grpc::ClientContext* call ABSL_GUARDED_BY(mutex) = nullptr;
  absl::Time end ABSL_GUARDED_BY(mutex) = absl::InfiniteFuture();
  bool ended ABSL_GUARDED_BY(mutex) = false;  // the thread has

  std::thread thread;
};

void OtlpExporter::Impl::Run() {
  for (queue.Take(spans); !spans.empty(); queue.Take(spans)) {
    const absl::Status status = CatchOutOfMemory([&] {
      Export();
      return absl::OkStatus();
    });
    if (status.ok()) continue;
    metrics.OnDropped(SpanDrop::kExportFailed, static_cast<int>(spans.size()));
  }
  MutexLock lock(mutex);
  ended = true;
  changed.notify_all();
}

void OtlpExporter::Impl::Export() {
  const otlp::ExportTraceServiceRequest request =
      ToOtlp(spans, options.resource, version, absl::Now() - SteadyNow());
  otlp::ExportTraceServiceResponse response;
  const grpc::Status status =
      Send(request, SteadyNow() + options.timeout, response);
  Count(status, static_cast<int>(spans.size()), response.partial_success());
}

void OtlpExporter::Impl::Count(const grpc::Status& status, int sent,
                               const otlp::ExportTracePartialSuccess& partial) {
  if (!status.ok()) {
    metrics.OnDropped(SpanDrop::kExportFailed, sent);
    if (std::exchange(failing, true)) return;
    return log.Write(LogLevel::kWarning, "spans_not_exported",
                     {{"endpoint", options.endpoint.target},
                      {"code", static_cast<int>(status.error_code())},
                      {"error", status.error_message()}});
  }
  const int rejected =
      static_cast<int>(std::clamp<int64_t>(partial.rejected_spans(), 0, sent));
  metrics.OnExported(sent - rejected);
  if (rejected > 0) metrics.OnDropped(SpanDrop::kRejected, rejected);
  LogRejected(rejected, partial.error_message());
  if (!std::exchange(failing, false)) return;
  log.Write(LogLevel::kInfo, "spans_exported_again",
            {{"endpoint", options.endpoint.target}});
}

// A collector may warn of spans that it takes, too.
void OtlpExporter::Impl::LogRejected(int rejected, const std::string& why) {
  const bool says_so = rejected > 0 || !why.empty();
  if (std::exchange(rejecting, says_so) || !says_so) return;
  log.Write(LogLevel::kWarning, "spans_rejected",
            {{"endpoint", options.endpoint.target},
             {"spans", rejected},
             {"error", why}});
}

grpc::Status OtlpExporter::Impl::Send(
    const otlp::ExportTraceServiceRequest& request, absl::Time deadline,
    otlp::ExportTraceServiceResponse& response) {
  for (absl::Duration pause = kFirstPause;; pause *= 2) {
    const grpc::Status status = SendOnce(request, deadline, response);
    if (status.ok() || !MayRetry(status) || SteadyNow() + pause >= deadline ||
        !Pause(pause)) {
      return status;
    }
  }
}

grpc::Status OtlpExporter::Impl::SendOnce(
    const otlp::ExportTraceServiceRequest& request, absl::Time deadline,
    otlp::ExportTraceServiceResponse& response) {
  grpc::ClientContext context;
  for (const auto& [key, value] : options.headers) {
    context.AddMetadata(key, value);
  }
  {
    MutexLock lock(mutex);
    deadline = std::min(deadline, end);
    call = &context;
  }
  // Without memory, too.
  const absl::Cleanup forget = [this] {
    MutexLock lock(mutex);
    call = nullptr;
  };
  // gRPC's deadlines are of the system's clock.
  context.set_deadline(
      absl::ToChronoTime(absl::Now() + (deadline - SteadyNow())));
  return stub->Export(&context, request, &response);
}

bool OtlpExporter::Impl::Pause(absl::Duration pause) {
  MutexLock lock(mutex);
  changed.wait_for(lock, absl::ToChronoNanoseconds(pause),
                   [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
                     return end != absl::InfiniteFuture();
                   });
  return end == absl::InfiniteFuture();
}

OtlpExporter::OtlpExporter(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<OtlpExporter>> OtlpExporter::Start(
    const TracingOptions& options, std::string version, SpanQueue& queue,
    SpanMetrics& metrics, Log& log) {
  ASSIGN_OR_RETURN(auto channel, NewChannel(options, version));
  // The series exist from the start, so that a rate has the first drop.
  metrics.OnExported(0);
  for (int r = 0; r < kNumSpanDrops; ++r) {
    metrics.OnDropped(static_cast<SpanDrop>(r), 0);
  }
  auto impl = std::make_unique<Impl>(options, std::move(version),
                                     std::move(channel), queue, metrics, log);
  impl->thread = std::thread([impl = impl.get()] { impl->Run(); });
  return std::unique_ptr<OtlpExporter>(new OtlpExporter(std::move(impl)));
}

OtlpExporter::~OtlpExporter() {
  impl_->queue.Close();
  {
    MutexLock lock(impl_->mutex);
    impl_->end = SteadyNow() + kLastWords;
    impl_->changed.notify_all();
    const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(impl_->mutex) {
      return impl_->ended;
    };
    impl_->changed.wait_for(lock, absl::ToChronoNanoseconds(kLastWords), ended);
    // A call that began before has a later deadline.
    if (impl_->call != nullptr) impl_->call->TryCancel();
  }
  impl_->thread.join();
}

}  // namespace attend
