#include "server/grpc/streamed_request.h"

#include <utility>

namespace attend {

void StreamedRequest::Take(grpc::ByteBuffer bytes, RequestBytes budgeted,
                           bool accepted) {
  bytes_.Swap(&bytes);
  size_ = bytes_.Length();
  if (accepted) Start(std::move(budgeted));
}

std::optional<grpc::ByteBuffer> StreamedRequest::NextAnswer() {
  if (!starting()) Answer();
  return std::exchange(answer_, std::nullopt);
}

// An answer that cannot be sent is the end of the request.
void StreamedRequest::Send(const google::protobuf::Message& answer) {
  absl::StatusOr<grpc::ByteBuffer> bytes = ToBytes(answer);
  if (bytes.ok()) {
    answer_ = *std::move(bytes);
  } else {
    cancelled_ = true;
    Finish(bytes.status());
  }
}

}  // namespace attend
