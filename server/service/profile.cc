// Profile of attend.v1.Admin: records, and then sends the trace in pieces.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "engine/tensor/status_macros.h"
#include "server/service/administrator.h"
#include "server/service/awaited_result.h"
#include "server/service/methods.h"
#include "server/service/service.h"

namespace attend {
namespace {

// Of one message: clients of gRPC take 4 MiB if they are not told otherwise.
constexpr size_t kPieceBytes = 1 << 20;
constexpr absl::Duration kUsualTime = absl::Seconds(5);

absl::Duration TimeOf(const v1::ProfileRequest& request) {
  if (!request.has_duration()) return kUsualTime;
  return absl::Seconds(request.duration().seconds()) +
         absl::Nanoseconds(request.duration().nanos());
}

class ProfileHandler final : public Handler {
 public:
  using Trace = ProfileControl::Trace;

  ProfileHandler(const Service& service, CallContext& context)
      : service_(service), context_(context) {}

  absl::StatusOr<int> Start(const google::protobuf::Message& request) override {
    RETURN_IF_ERROR(CheckAdministrator(service_, context_));
    if (service_.profiles == nullptr) {
      return absl::UnimplementedError("this server records no profiles");
    }
    auto outcome =
        std::make_shared<AwaitedResult<absl::StatusOr<Trace>>>(context_);
    ASSIGN_OR_RETURN(
        number_, service_.profiles->Start(
                     TimeOf(static_cast<const v1::ProfileRequest&>(request)),
                     absl::StrCat("call ", context_.request_id()),
                     [outcome](absl::StatusOr<Trace> trace) {
                       outcome->Set(std::move(trace));
                     }));
    outcome_ = std::move(outcome);
    return 0;
  }

  void Continue(Responder& to) override {
    if (absl::Status cut = context_.cut_status(); !cut.ok()) {
      return to.Finish(cut);
    }
    if (trace_ == nullptr) {
      std::optional<absl::StatusOr<Trace>> trace = outcome_->Take();
      if (!trace) return;
      if (!trace->ok()) return to.Finish(trace->status());
      trace_ = **std::move(trace);
    }
    SendPiece(to);
  }

  // Nobody waits for what a client wanted that has gone. A call that the server
  // cuts still waits: the server ends its profile, too.
  bool quiet() const override {
    if (outcome_ == nullptr) return true;
    if (context_.cancelled() && context_.cut_status().ok()) {
      outcome_->Leave();
      service_.profiles->Cancel(number_);
    }
    return outcome_->quiet();
  }

 private:
  void SendPiece(Responder& to) {
    const size_t size = std::min(kPieceBytes, trace_->size() - sent_);
    v1::ProfileChunk piece;
    piece.set_trace(trace_->data() + sent_, size);
    sent_ += size;
    const bool last = sent_ == trace_->size();
    // Before the client knows of the end: it may begin another profile then.
    if (last) trace_.reset();
    to.Send(piece);
    if (last) to.Finish(absl::OkStatus());
  }

  const Service& service_;
  CallContext& context_;
  int64_t number_ = 0;  // of the profile
  // Null: nothing is recorded.
  std::shared_ptr<AwaitedResult<absl::StatusOr<Trace>>> outcome_;
  Trace trace_;      // null: it has not come yet
  size_t sent_ = 0;  // bytes of it
};

}  // namespace

std::unique_ptr<Handler> NewProfileHandler(const Service& service,
                                           CallContext& context) {
  return std::make_unique<ProfileHandler>(service, context);
}

}  // namespace attend
