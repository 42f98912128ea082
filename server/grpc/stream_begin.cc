#include "server/grpc/stream_begin.h"

#include <memory>
#include <utility>

#include "server/grpc/accepted_calls.h"
#include "server/grpc/incoming_calls.h"

namespace attend {
namespace {

// Of the stream that has begun on this thread. Its header frame, which the
// connection's parser begins next, knows it by that.
struct Begun {
  bool refused = false;
  std::shared_ptr<IncomingCall> call = nullptr;
};
thread_local Begun begun;

}  // namespace

void* BeginStream(void* transport, absl::FunctionRef<void*()> accept) {
  begun = {.refused = !AcceptedCalls::OfProcess().Add(transport)};
  if (begun.refused) return nullptr;
  void* const stream = accept();
  if (stream == nullptr) {
    AcceptedCalls::OfProcess().Remove(transport);
  } else {
    begun.call = IncomingCalls::OfProcess().Add(stream);
  }
  return stream;
}

void EndStream(void* transport, void* stream) {
  AcceptedCalls::OfProcess().Remove(transport);
  IncomingCalls::OfProcess().Remove(stream);
}

void BeginFrame(void* parser, const HeaderFrames::Frame& frame) {
  Begun of_frame = std::exchange(begun, {});
  HeaderFrames& frames = HeaderFrames::OfProcess();
  frames.OnFrame(parser, frame, std::move(of_frame.call));
  if (of_frame.refused) frames.Refuse(parser);
}

}  // namespace attend
