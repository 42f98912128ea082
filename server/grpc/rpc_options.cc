#include "server/grpc/rpc_options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

template <class Number>
absl::Status CheckRange(absl::string_view name, Number value, Number low,
                        Number high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %d, must be in [%d, %d]", name, value, low, high));
}

absl::Status CheckPositive(absl::string_view name, absl::Duration value) {
  if (value >= absl::Milliseconds(1)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      name, " is ", absl::FormatDuration(value), ", must be at least 1ms"));
}

}  // namespace

absl::Status RpcOptions::Validate() const {
  RETURN_IF_ERROR(CheckRange("port", port, 0, 65535));
  RETURN_IF_ERROR(CheckRange("max_batch_inputs", max_batch_inputs, 1, 100000));
  RETURN_IF_ERROR(CheckRange<size_t>("max_call_bytes", max_call_bytes, 1 << 20,
                                     size_t{1} << 40));
  RETURN_IF_ERROR(
      CheckRange("max_document_sentences", max_document_sentences, 1, 1000000));
  RETURN_IF_ERROR(CheckRange<size_t>("max_message_bytes", max_message_bytes,
                                     1024, 1 << 30));
  RETURN_IF_ERROR(CheckRange("max_connections", max_connections, 1, 1000000));
  RETURN_IF_ERROR(CheckRange("max_connections_per_address",
                             max_connections_per_address, 0, 1000000));
  RETURN_IF_ERROR(
      CheckRange("max_concurrent_streams", max_concurrent_streams, 1, 1000000));
  RETURN_IF_ERROR(
      CheckRange("max_stream_requests", max_stream_requests, 1, 100000));
  RETURN_IF_ERROR(CheckRange("tokenizer_threads", tokenizer_threads, 1, 64));
  RETURN_IF_ERROR(
      CheckRange("max_tokenizer_queue", max_tokenizer_queue, 1, 1000000));
  RETURN_IF_ERROR(CheckPositive("slow_reader_timeout", slow_reader_timeout));
  RETURN_IF_ERROR(CheckPositive("handshake_timeout", handshake_timeout));
  RETURN_IF_ERROR(CheckPositive("keepalive_time", keepalive_time));
  RETURN_IF_ERROR(CheckPositive("keepalive_timeout", keepalive_timeout));
  RETURN_IF_ERROR(CheckPositive("min_ping_interval", min_ping_interval));
  RETURN_IF_ERROR(CheckPositive("max_connection_age", max_connection_age));
  RETURN_IF_ERROR(
      CheckPositive("max_connection_age_grace", max_connection_age_grace));
  return absl::OkStatus();
}

}  // namespace attend
