// A second generated service on the same port, called by its own stub. It says
// what its methods are and what works behind them; the life of its calls is
// that of all calls.

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "server/service/immediate_handler.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "words.grpc.pb.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::words::Number;
using ::words::Text;
using ::words::Words;

absl::StatusOr<Number> Count(const Service&, CallContext&,
                             const Text& request) {
  if (request.text().empty()) {
    return absl::InvalidArgumentError("text is empty, must have a word");
  }
  const std::vector<std::string> words = absl::StrSplit(request.text(), ' ');
  Number number;
  number.set_number(static_cast<int>(words.size()));
  return number;
}

std::unique_ptr<Handler> NewCountHandler(const Service& service,
                                         CallContext& context) {
  return NewImmediateHandler(service, context, Count);
}

// Translates to GenerateStream and back.
class ContinueHandler final : public Handler {
 public:
  ContinueHandler(const Service& service, CallContext& context)
      : inner_(NewGenerateStreamHandler(service, context)) {}

  absl::StatusOr<int> Start(const google::protobuf::Message& text) override {
    request_ = MakeRequest({static_cast<const Text&>(text).text()}, 3);
    return inner_->Start(request_);
  }
  absl::Status StartInput(const google::protobuf::Message&,
                          int index) override {
    return inner_->StartInput(request_, index);
  }
  void Continue(Responder& to) override {
    Translator translator(to);
    inner_->Continue(translator);
  }
  bool quiet() const override { return inner_->quiet(); }
  CallSummary summary() const override { return inner_->summary(); }

 private:
  class Translator final : public Responder {
   public:
    explicit Translator(Responder& to) : to_(to) {}
    void Send(const google::protobuf::Message& answer) override {
      Text text;
      text.set_text(
          google::protobuf::DynamicCastToGenerated<v1::GenerateChunk>(&answer)
              ->text());
      to_.Send(text);
    }
    void Finish(const absl::Status& status) override { to_.Finish(status); }

   private:
    Responder& to_;
  };

  const std::unique_ptr<Handler> inner_;
  v1::GenerateRequest request_;
};

std::unique_ptr<Handler> NewContinueHandler(const Service& service,
                                            CallContext& context) {
  return std::make_unique<ContinueHandler>(service, context);
}

RpcFixtureOptions WithWords() {
  constexpr NamedHandler kHandlers[] = {{"Count", NewCountHandler},
                                        {"Continue", NewContinueHandler}};
  RpcFixtureOptions options;
  options.more_methods = BindMethods(
      *Text::descriptor()->file()->FindServiceByName("Words"), kHandlers);
  return options;
}

Text MakeText(const std::string& words) {
  Text text;
  text.set_text(words);
  return text;
}

TEST(SecondServiceTest, AnswersItsStub) {
  RpcFixture fixture(WithWords());
  const auto stub = Words::NewStub(fixture.NewChannel({}));
  {
    grpc::ClientContext context;
    context.AddMetadata("x-request-id", "mine");
    Number number;
    ASSERT_TRUE(stub->Count(&context, MakeText("a b c"), &number).ok());
    EXPECT_EQ(number.number(), 3);
    EXPECT_EQ(context.GetServerInitialMetadata().find("x-request-id")->second,
              "mine");
  }
  grpc::ClientContext context;
  const auto reader = stub->Continue(&context, MakeText("abcdefgh"));
  std::string all;
  for (Text text; reader->Read(&text);) all += text.text();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(all, "w279 w280 w281");
  // Ours is served as ever.
  grpc::ClientContext own;
  v1::ListModelsResponse models;
  EXPECT_TRUE(fixture.stub->ListModels(&own, {}, &models).ok());
}

TEST(SecondServiceTest, ErrorsAreThoseOfAllCalls) {
  RpcFixture fixture(WithWords());
  const auto stub = Words::NewStub(fixture.NewChannel({}));
  Number number;
  {
    grpc::ClientContext context;
    const grpc::Status status = stub->Count(&context, {}, &number);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("text is empty"));
  }
  {
    grpc::ClientContext context;
    Text text;
    EXPECT_EQ(stub->Forget(&context, {}, &text).error_code(),
              grpc::UNIMPLEMENTED);
  }
  fixture.calls->Drain();
  grpc::ClientContext context;
  EXPECT_EQ(stub->Count(&context, MakeText("a"), &number).error_code(),
            grpc::UNAVAILABLE);
}

TEST(SecondServiceTest, IsCounted) {
  RpcFixture fixture(WithWords());
  const auto stub = Words::NewStub(fixture.NewChannel({}));
  {
    grpc::ClientContext context;
    Number number;
    ASSERT_TRUE(stub->Count(&context, MakeText("a"), &number).ok());
  }
  fixture.server.reset();  // calls are counted when they are gone
  EXPECT_THAT(fixture.metrics.Serialize(),
              HasSubstr("attend_requests_total{code=\"OK\",method=\"Count\","
                        "model=\"\"} 1"));
}

}  // namespace
}  // namespace attend
