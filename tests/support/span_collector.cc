#include "tests/support/span_collector.h"

#include <chrono>

namespace attend {

SpanCollector::SpanCollector() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

SpanCollector::~SpanCollector() {
  Release();
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

std::string SpanCollector::endpoint() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void SpanCollector::FailNext(int exports, const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  failures_ = exports;
  failure_ = status;
}

void SpanCollector::Reject(int spans) {
  const std::lock_guard lock(mutex_);
  rejected_ = spans;
}

void SpanCollector::Hold() {
  const std::lock_guard lock(mutex_);
  hold_ = true;
}

void SpanCollector::Release() {
  const std::lock_guard lock(mutex_);
  hold_ = false;
  changed_.notify_all();
}

void SpanCollector::WaitUntilHeld() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return held_; });
}

int SpanCollector::exports() const {
  const std::lock_guard lock(mutex_);
  return exports_;
}

std::vector<SpanCollector::Request> SpanCollector::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::vector<SpanCollector::OtlpSpan> SpanCollector::spans() const {
  std::vector<OtlpSpan> spans;
  for (const Request& request : requests()) {
    for (const auto& resource : request.resource_spans()) {
      for (const auto& scope : resource.scope_spans()) {
        spans.insert(spans.end(), scope.spans().begin(), scope.spans().end());
      }
    }
  }
  return spans;
}

std::multimap<std::string, std::string> SpanCollector::metadata() const {
  const std::lock_guard lock(mutex_);
  return metadata_;
}

grpc::Status SpanCollector::Export(grpc::ServerContext* context,
                                   const Request* request, Response* response) {
  std::unique_lock lock(mutex_);
  ++exports_;
  held_ = hold_;
  changed_.notify_all();
  while (hold_ && !context->IsCancelled()) {
    changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
  held_ = false;
  metadata_.clear();
  for (const auto& [key, value] : context->client_metadata()) {
    metadata_.emplace(std::string(key.data(), key.size()),
                      std::string(value.data(), value.size()));
  }
  if (failures_ > 0) {
    --failures_;
    return failure_;
  }
  requests_.push_back(*request);
  if (rejected_ > 0) {
    response->mutable_partial_success()->set_rejected_spans(rejected_);
  }
  return grpc::Status::OK;
}

}  // namespace attend
