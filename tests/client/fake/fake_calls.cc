#include "tests/client/fake/fake_calls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"

namespace attend {
namespace {

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message())};
}

}  // namespace

FakeCalls::InFlight::InFlight(FakeCalls& calls) : calls_(calls) {
  const std::lock_guard<std::mutex> lock(calls_.mutex_);
  calls_.most_in_flight = std::max(calls_.most_in_flight, ++calls_.in_flight_);
}

FakeCalls::InFlight::~InFlight() {
  const std::lock_guard<std::mutex> lock(calls_.mutex_);
  --calls_.in_flight_;
}

void FakeCalls::Fail(std::vector<FakeFailure> failures) {
  const std::lock_guard<std::mutex> lock(mutex_);
  failures_.assign(failures.begin(), failures.end());
}

void FakeCalls::RefuseInput() {
  const std::lock_guard<std::mutex> lock(mutex_);
  refuse_input_ = true;
}

void FakeCalls::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
}

grpc::Status FakeCalls::Begin(grpc::ServerContext& context) {
  FakeFailure failure;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++calls;
    const auto header = [&context](const char* name) {
      const auto found = context.client_metadata().find(name);
      return found == context.client_metadata().end()
                 ? std::string()
                 : std::string(found->second.data(), found->second.size());
    };
    request_id = header("x-request-id");
    authorization = header("authorization");
    if (failures_.empty()) return grpc::Status::OK;
    failure = failures_.front();
    failures_.pop_front();
  }
  if (failure.hangs) return Hang(context);
  if (failure.headers_first) {
    context.AddInitialMetadata("x-request-id", "made here");
  }
  if (failure.pushback_ms.has_value()) {
    context.AddTrailingMetadata("grpc-retry-pushback-ms", *failure.pushback_ms);
  }
  return ToGrpc(failure.status);
}

grpc::Status FakeCalls::Hang(const grpc::ServerContext& context) {
  std::unique_lock<std::mutex> lock(mutex_);
  stop_.wait_until(lock, context.deadline(), [this] { return stopping_; });
  return {grpc::StatusCode::DEADLINE_EXCEEDED, "hung"};
}

v1::Status FakeCalls::StatusOf(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  v1::Status status;
  if (absl::StartsWith(text, "bad")) {
    status.set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
    status.set_message("text is bad");
  } else if (std::exchange(refuse_input_, false)) {
    status.set_code(static_cast<int>(absl::StatusCode::kResourceExhausted));
  }
  return status;
}

}  // namespace attend
