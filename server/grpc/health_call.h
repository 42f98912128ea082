#ifndef ATTEND_SERVER_GRPC_HEALTH_CALL_H_
#define ATTEND_SERVER_GRPC_HEALTH_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/grpc/event_loop.h"
#include "server/grpc/health.h"
#include "server/grpc/incoming_call.h"
#include "server/grpc/raw_service.h"
#include "server/grpc/rpc_environment.h"
#include "server/service/live_calls.h"
#include "server/service/wake_list.h"

namespace attend {

class HealthCall;

// The methods of grpc.health.v1. They have no handlers.
std::vector<Method> HealthMethods();

// What calls of health share on one loop. Outlives them.
struct HealthLoop {
  RawService& service;  // of HealthMethods()
  Health& health;
  RpcEnvironment& environment;
  EventLoop& loop;
  std::list<HealthCall*> reading = {};  // whose requests are to come
};

// One call of grpc.health.v1. It needs no key unless Service says so, because
// probes have none, waits in no queue, and is neither counted nor logged:
// probes come all the time.
//
// So that nobody without a key can make the server hold much memory, a request
// that is too long is refused when its head is there, and few are read at once:
// a further call takes the place of the one that has waited longest. A client
// that sends its request with its headers, as all known clients do, is not held
// up by that.
//
// Thread and life are those of a Call.
class HealthCall final : private LiveCalls::Entry,
                         private HealthWatcher,
                         public Wakeable,
                         public Watched {
 public:
  // On one loop.
  static constexpr size_t kMaxReading = 16;
  // The name of a model or service is no longer.
  static constexpr size_t kMaxRequestBytes = 1024;

  // Asks gRPC for the next call of method number `method`.
  static void Ask(HealthLoop& shared, int method);

 private:
  HealthCall(HealthLoop& shared, int method);
  ~HealthCall() override;

  void OnAccepted(bool ok);
  void OnRead(bool ok);
  void OnDoneEvent(bool ok);
  void OnWritten(bool ok);
  void OnWake() override { Advance(); }
  void OnWatch(absl::Time now) override;
  void OnHealth() override;

  // Of the caller, by the headers of the call. UNAUTHENTICATED; UNIMPLEMENTED
  // for Watch, after which gRPC's clients, whose watchers send no key, call a
  // server whose health they do not know.
  absl::Status CheckKey() const;
  // OK: the request may be read.
  absl::Status Accept();
  // Reads what the client still has to say.
  void Read();
  // The request of which `request_` has the bytes.
  absl::Status TakeRequest();

  void Advance();
  void Write();
  void WriteStatus(int status);
  void Finish(const absl::Status& status);
  void Begin();

  HealthLoop& shared_;
  const int method_;
  const bool watches_;  // the method is Watch

  grpc::ServerContext grpc_;
  std::shared_ptr<IncomingCall> incoming_;   // null: is not followed
  grpc::ByteBuffer bytes_;                   // what is read
  std::optional<grpc::ByteBuffer> request_;  // set when it has come
  MessageStream stream_;
  std::string name_;         // whose health is asked for
  absl::Status error_;       // of the request
  std::optional<int> told_;  // the status that was written last

  MemberEvent<HealthCall> accepted_{*this, &HealthCall::OnAccepted};
  MemberEvent<HealthCall> read_{*this, &HealthCall::OnRead};
  MemberEvent<HealthCall> done_{*this, &HealthCall::OnDoneEvent};
  MemberEvent<HealthCall> written_{*this, &HealthCall::OnWritten};

  bool done_pending_ = false;  // the done event is still to come
  bool reading_ = false;       // a read is under way
  bool writing_ = false;       // a write or the end is under way
  bool ended_ = false;         // the end has been written, or is under way
  bool gone_ = false;          // the client has gone
  bool slow_ = false;          // the server cancelled: the client was too slow
  absl::Time began_;           // what is under way
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HEALTH_CALL_H_
