#include "server/grpc/cancel_stream.h"

#include <dlfcn.h>
#include <grpcpp/version_info.h>

#include <utility>

#include "absl/base/options.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "server/grpc/original.h"

#define ATTEND_QUOTED(name) #name
#define ATTEND_EXPANDED(name) ATTEND_QUOTED(name)

// A symbol of libgrpc 1.51 and 1.56. A distribution's Abseil has a namespace of
// its own, whose name has 7 letters in Debian 12 and 13.
#define ATTEND_CANCEL                                               \
  "_Z25grpc_chttp2_cancel_streamP21grpc_chttp2_transportP18grpc_ch" \
  "ttp2_streamN4absl7" ATTEND_EXPANDED(                             \
      ABSL_OPTION_INLINE_NAMESPACE_NAME) "6StatusE"

namespace attend {
namespace {

using Cancel = void(void* transport, void* stream, absl::Status why);

}  // namespace

#if ATTEND_WRAPS_GRPC

Cancel OriginalCancel asm(ATTEND_CANCEL);

bool CanCancelStreams() { return true; }

#else

namespace {

void OriginalCancel(void* transport, void* stream, absl::Status why) {
  static auto* const original = Original<Cancel>(ATTEND_CANCEL);
  original(transport, stream, std::move(why));
}

}  // namespace

// Other versions have a function of this name, too, that need not do the same.
bool CanCancelStreams() {
  return GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR == 51 &&
         dlsym(RTLD_NEXT, ATTEND_CANCEL) != nullptr;
}

#endif

void CancelStream(void* transport, void* stream, absl::Status status) {
  OriginalCancel(transport, stream, StreamError(std::move(status)));
}

absl::Status StreamError(absl::Status status) {
  // Where libgrpc looks for the code that a client is told, and whether the
  // error is a stream's.
  status.SetPayload("type.googleapis.com/grpc.status.int.grpc_status",
                    absl::Cord(absl::StrCat(static_cast<int>(status.code()))));
  status.SetPayload("type.googleapis.com/grpc.status.int.stream_id",
                    absl::Cord("0"));
  return status;
}

}  // namespace attend
