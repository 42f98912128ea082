#include "server/connect/connect_translator.h"

#include <google/protobuf/util/json_util.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "server/connect/connect_error.h"
#include "server/connect/envelope.h"
#include "server/connect/json_message.h"

namespace attend {
namespace {

absl::Status ParseMessage(absl::string_view bytes, ConnectCodec codec,
                          google::protobuf::Message& message) {
  if (codec == ConnectCodec::kJson) return ParseJsonMessage(bytes, message);
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the body is no message ", message.GetDescriptor()->full_name()));
}

absl::StatusOr<std::string> WriteMessage(
    const google::protobuf::Message& message, ConnectCodec codec) {
  if (codec == ConnectCodec::kProto) return message.SerializeAsString();
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json);
  if (status.ok()) return json;
  return absl::InternalError(
      absl::StrCat("cannot write JSON: ", std::string(status.message())));
}

}  // namespace

absl::StatusOr<absl::Duration> ConnectTranslator::ReadHead(
    const HttpRequest& head) {
  ASSIGN_OR_RETURN(codec_, CodecOf(head, streams_));
  RETURN_IF_ERROR(CheckConnectHead(head, streams_));
  return ConnectTimeout(head);
}

absl::StatusOr<HandledRequest> ConnectTranslator::Read(
    const HttpCallInput& input, const Service&, CallContext&) {
  absl::string_view bytes = input.body.text;
  if (streams_) {
    ASSIGN_OR_RETURN(bytes, OpenEnvelope(bytes));
  }
  std::unique_ptr<google::protobuf::Message> message(method_.request->New());
  RETURN_IF_ERROR(ParseMessage(bytes, *codec_, *message));
  return HandledRequest{method_.make, std::move(message), streams_};
}

absl::Status ConnectTranslator::Append(const google::protobuf::Message& answer,
                                       std::string& text) {
  ASSIGN_OR_RETURN(std::string message, WriteMessage(answer, *codec_));
  if (streams_) {
    AppendEnvelope(kMessageFlags, message, text);
  } else {
    text = std::move(message);
  }
  return absl::OkStatus();
}

void ConnectTranslator::AppendEnd(std::string& text) {
  if (!streams_) return;
  AppendEnvelope(kEndOfStreamFlags, EndOfStream(absl::OkStatus()), text);
}

void ConnectTranslator::AppendError(const absl::Status& status,
                                    absl::string_view, std::string& text) {
  AppendEnvelope(kEndOfStreamFlags, EndOfStream(status), text);
}

}  // namespace attend
