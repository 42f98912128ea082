#ifndef ATTEND_SERVER_SERVICE_IMMEDIATE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_IMMEDIATE_HANDLER_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/service/handler.h"

namespace attend {

// The work behind a call that needs no engine: one function of the request,
// run by a tokenizer thread.
template <class Request, class Response>
class ImmediateHandler final : public Handler<Request, Response> {
 public:
  using Answer = std::function<absl::StatusOr<Response>(const Request&)>;
  explicit ImmediateHandler(Answer answer) : answer_(std::move(answer)) {}

  absl::Status Start(const Request& request) override {
    absl::StatusOr<Response> response = answer_(request);
    if (!response.ok()) return response.status();
    response_ = *std::move(response);
    return absl::OkStatus();
  }
  bool Next(Response& response) override {
    if (ended_) return false;
    response = std::move(response_);
    ended_ = true;
    return true;
  }
  bool ended() const override { return ended_; }

 private:
  Answer answer_;
  Response response_;
  bool ended_ = false;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_IMMEDIATE_HANDLER_H_
