#ifndef ATTEND_TESTS_SERVER_HTTP_CALL_SAY_API_H_
#define ATTEND_TESTS_SERVER_HTTP_CALL_SAY_API_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "server/http_call/http_api.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_fields.h"
#include "server/service/methods.h"

namespace attend {

// A small API: POST /say {"text", "words", "stream"} gives the text that
// follows, as a whole or in lines. POST /say/MODEL names the model. Of a list
// of texts the first that fails ends a stream. Texts that are too long are cut.
class SayTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service&, CallContext&) override {
    static constexpr JsonField<SayTranslator> kFields[] = {
        {"text", "", "",
         [](const JsonValue& value, SayTranslator& to) -> absl::Status {
           ASSIGN_OR_RETURN(const auto texts, value.Strings());
           for (const std::string& text : texts) {
             to.request_->add_inputs()->set_text(text);
           }
           return absl::OkStatus();
         }},
        {"words", "", "",
         [](const JsonValue& value, SayTranslator& to) -> absl::Status {
           ASSIGN_OR_RETURN(const int64_t words, value.Int());
           to.request_->mutable_params()->set_max_new_tokens(words);
           return absl::OkStatus();
         }},
        {"stream", "", "",
         [](const JsonValue& value, SayTranslator& to) -> absl::Status {
           ASSIGN_OR_RETURN(to.streams_, value.Bool());
           return absl::OkStatus();
         }},
    };
    request_ = std::make_unique<v1::GenerateRequest>();
    request_->set_model(input.path_rest);
    request_->set_truncate(true);
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(ReadFields<SayTranslator>({body, ""}, kFields, *this));
    return HandledRequest{
        streams_ ? NewGenerateStreamHandler : NewGenerateHandler,
        std::move(request_), streams_};
  }
  FieldNames field_names() const override {
    static constexpr std::pair<absl::string_view, absl::string_view> kNames[] =
        {{"params.max_new_tokens", "words"}, {"inputs", "text"}};
    return kNames;
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    if (streams_) {
      const auto& chunk = static_cast<const v1::GenerateChunk&>(answer);
      if (chunk.status().code() != 0) {
        return absl::Status(
            static_cast<absl::StatusCode>(chunk.status().code()),
            chunk.status().message());
      }
      absl::StrAppend(&text, chunk.text(), "\n");
    } else {
      const auto& all = static_cast<const v1::GenerateResponse&>(answer);
      absl::StrAppend(&text, all.results(0).choices(0).text());
    }
    return absl::OkStatus();
  }
  void AppendEnd(std::string& text) override {
    if (streams_) absl::StrAppend(&text, "end\n");
  }
  absl::string_view filler() const override { return "...\n"; }
  absl::string_view answer_type() const override { return "text/plain"; }

 private:
  std::unique_ptr<v1::GenerateRequest> request_;
  bool streams_ = false;
};

inline std::unique_ptr<HttpTranslator> NewSayTranslator() {
  return std::make_unique<SayTranslator>();
}

inline HttpApi SayApi() {
  return {.methods = {{"POST", "/say", NewSayTranslator},
                      {"POST", "/say/*", NewSayTranslator}},
          .error =
              [](const absl::Status& status, int http_status) {
                return HttpErrorBody{
                    .type = "text/x-error",
                    .text = absl::StrCat(http_status, " (", FieldOf(status),
                                         ") ", status.message())};
              },
          .prefixes = {"/sa"}};
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_HTTP_CALL_SAY_API_H_
