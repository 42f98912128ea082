#ifndef ATTEND_SERVER_CONNECT_CONNECT_TRANSLATOR_H_
#define ATTEND_SERVER_CONNECT_CONNECT_TRANSLATOR_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/connect/connect_head.h"
#include "server/http_call/http_translator.h"
#include "server/service/methods.h"

namespace attend {

// A call of any method by the Connect protocol.
class ConnectTranslator final : public HttpTranslator {
 public:
  // `method` must outlive the translator.
  explicit ConnectTranslator(const Method& method)
      : method_(method), streams_(method.descriptor->server_streaming()) {}

  absl::StatusOr<absl::Duration> ReadHead(const HttpRequest& head) override;
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service& service,
                                      CallContext& context) override;
  size_t max_answer_bytes() const override {
    return codec_ == ConnectCodec::kProto ? std::numeric_limits<size_t>::max()
                                          : kMaxJsonAnswerBytes;
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override;
  void AppendEnd(std::string& text) override;
  // A client that knows no codec of ours does not read envelopes.
  bool errors_in_answer() const override { return streams_ && codec_; }
  void AppendError(const absl::Status& status, absl::string_view body,
                   std::string& text) override;
  absl::string_view answer_type() const override {
    return ContentType(*codec_, streams_);
  }

 private:
  const Method& method_;
  const bool streams_;
  std::optional<ConnectCodec> codec_;  // none: the client named no known one
};

}  // namespace attend

#endif  // ATTEND_SERVER_CONNECT_CONNECT_TRANSLATOR_H_
