#ifndef ATTEND_TESTS_SUPPORT_SPAN_COLLECTOR_H_
#define ATTEND_TESTS_SUPPORT_SPAN_COLLECTOR_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "otlp/trace_service.grpc.pb.h"

namespace attend {

// A collector of spans in this process, by OTLP over gRPC. What it answers is
// settled before it is asked.
class SpanCollector final
    : public opentelemetry::proto::collector::trace::v1::TraceService::Service {
 public:
  using Request =
      opentelemetry::proto::collector::trace::v1::ExportTraceServiceRequest;
  using Response =
      opentelemetry::proto::collector::trace::v1::ExportTraceServiceResponse;
  using OtlpSpan = opentelemetry::proto::collector::trace::v1::OtlpSpan;

  SpanCollector();
  ~SpanCollector() override;

  std::string endpoint() const;

  // The next exports are answered so; then OK.
  void FailNext(int exports, const grpc::Status& status);
  // All exports have so many spans rejected.
  void Reject(int spans);
  // Exports wait for Release(), or until their client has gone.
  void Hold();
  void Release();
  // Returns when an export waits.
  void WaitUntilHeld();

  // How often it was asked.
  int exports() const;
  // Of the exports that were taken.
  std::vector<Request> requests() const;
  std::vector<OtlpSpan> spans() const;
  // Of the last export.
  std::multimap<std::string, std::string> metadata() const;

 private:
  grpc::Status Export(grpc::ServerContext* context, const Request* request,
                      Response* response) override;

  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  int failures_ = 0;
  grpc::Status failure_;
  int rejected_ = 0;
  bool hold_ = false;
  bool held_ = false;
  int exports_ = 0;
  std::vector<Request> requests_;
  std::multimap<std::string, std::string> metadata_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_SPAN_COLLECTOR_H_
