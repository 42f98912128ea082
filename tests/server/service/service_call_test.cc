// The service without any protocol: calls of this process.

#include "server/service/service_call.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "absl/functional/function_ref.h"
#include "tests/server/service/service_fixture.h"
#include "tests/support/taken_spans.h"

namespace attend {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using ServiceCallTest = ServiceFixture;

TEST_F(ServiceCallTest, GenerateAnswersOnce) {
  Build({});
  const v1::GenerateRequest request = Generate("abcdefgh", 3);
  LocalCall call = NewCall("Generate", request);
  call.Run();
  EXPECT_EQ(call.end(), absl::OkStatus());
  EXPECT_EQ(call.request_id(), "local");
  const auto answers = call.answers<v1::GenerateResponse>();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].results(0).choices(0).text(), "w279 w280 w281");
  ExpectCounted("Generate", "OK");
}

TEST_F(ServiceCallTest, GenerateStreamAnswersAsItGoes) {
  FixtureOptions options;
  options.engine.allowed_steps = 2;  // encode and a token
  Build(options);
  const v1::GenerateRequest request = Generate("abcdefgh", 3);
  LocalCall call = NewCall("GenerateStream", request);
  std::thread client([&] { call.Run(); });
  engine_->WaitUntilBlocked();
  engine_->OpenGate();
  client.join();
  EXPECT_EQ(call.end(), absl::OkStatus());
  const auto chunks = call.answers<v1::GenerateChunk>();
  ASSERT_FALSE(chunks.empty());
  std::string text;
  for (const v1::GenerateChunk& chunk : chunks) text += chunk.text();
  EXPECT_EQ(text, "w279 w280 w281");
  EXPECT_EQ(chunks.back().usage().generated_tokens(), 3);
  ExpectCounted("GenerateStream", "OK");
}

TEST_F(ServiceCallTest, TheAccessLogTellsOfACall) {
  const std::string path =
      absl::StrCat(::testing::TempDir(), "/access_log_", getpid());
  std::string text;
  {
    const auto access_log = AccessLog::Open({.file = path}, log_);
    ASSERT_TRUE(access_log.ok()) << access_log.status();
    service_.access_log = access_log->get();
    Build({});
    const v1::GenerateRequest request = Generate("secret", 3);
    NewCall("Generate", request).Run();
    const v1::GenerateRequest wrong = Generate("secret", -1);
    NewCall("Generate", wrong).Run();
  }
  std::ifstream file(path);
  text.assign(std::istreambuf_iterator<char>(file), {});
  std::remove(path.c_str());
  EXPECT_THAT(text, HasSubstr(" level=info event=call id=local peer=local "
                              "tenant=\"\" model=fake model_version=1 "
                              "method=Generate code=OK seconds="));
  EXPECT_THAT(text, ContainsRegex("queue_seconds=[0-9.e-]+ "
                                  "first_token_seconds=[0-9.e-]+ inputs=1 "
                                  "failed_inputs=0 source_tokens=7 "
                                  "generated_tokens=3 slow_reader=0\n"));
  // A call that nothing was computed for has no such times.
  EXPECT_THAT(text, ContainsRegex("code=INVALID_ARGUMENT seconds=[0-9.e-]+ "
                                  "inputs=0"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
}

TEST_F(ServiceCallTest, EmbedAnswersWithVectors) {
  Build({});
  v1::EmbedRequest request;
  request.add_inputs()->set_text("a");
  request.add_inputs()->set_text("bc");
  LocalCall call = NewCall("Embed", request);
  call.Run();
  EXPECT_EQ(call.end(), absl::OkStatus());
  const auto answers = call.answers<v1::EmbedResponse>();
  ASSERT_EQ(answers.size(), 1);
  ASSERT_EQ(answers[0].results_size(), 2);
  EXPECT_EQ(answers[0].results(1).values_size(), 4);
  EXPECT_EQ(answers[0].results(1).usage().source_tokens(), 3);
}

TEST_F(ServiceCallTest, AnErrorEndsACallWithoutAnAnswer) {
  Build({});
  const v1::GenerateRequest wrong = Generate("a", -1);
  LocalCall call = NewCall("Generate", wrong);
  call.Run();
  ASSERT_TRUE(call.end().has_value());
  EXPECT_EQ(call.end()->code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(call.end()->message(), HasSubstr("max_new_tokens"));
  EXPECT_THAT(call.answers<v1::GenerateResponse>(), ElementsAre());
  ExpectCounted("Generate", "INVALID_ARGUMENT");

  engine_->FailNextStep(absl::InternalError("broken"));
  const v1::GenerateRequest request = Generate("a", 2);
  LocalCall stream = NewCall("GenerateStream", request);
  stream.Run();
  EXPECT_EQ(stream.end(), absl::InternalError("step failed: broken"));
  ExpectCounted("GenerateStream", "INTERNAL");
}

TEST_F(ServiceCallTest, ACancelledCallFreesItsInputs) {
  FixtureOptions options;
  options.engine.allowed_steps = 3;
  Build(options);
  const v1::GenerateRequest request = Generate("abc", 1000);
  LocalCall call = NewCall("GenerateStream", request);
  std::thread client([&] { call.Run(); });
  engine_->WaitUntilBlocked();
  call.Cancel();
  engine_->OpenGate();
  client.join();  // long before 1000 tokens
  EXPECT_EQ(call.end(), std::nullopt);
  EXPECT_LT(engine_->steps(), 100);
  ExpectCounted("GenerateStream", "CANCELLED");
}

TEST_F(ServiceCallTest, DrainingRefusesCalls) {
  Build({});
  environment_->Drain();
  const v1::GenerateRequest request = Generate("abc", 1);
  LocalCall call = NewCall("Generate", request);
  call.Run();
  ASSERT_TRUE(call.end().has_value());
  EXPECT_EQ(call.end()->code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(engine_->steps(), 0);
}

TEST_F(ServiceCallTest, AFullTokenizerQueueSaysWhenToTryAgain) {
  Build({.engine = {}, .max_tokenizer_queue = 0});
  const v1::GenerateRequest request = Generate("abc", 1);
  LocalCall call = NewCall("Generate", request);
  call.Run();
  ASSERT_TRUE(call.end().has_value());
  EXPECT_EQ(call.end()->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(call.end()->GetPayload(kRetryAfterUrl), absl::Cord("1s"));
}

// Which inputs of calls have begun to be tokenised, and a gate that stops each.
struct InputGate {
  void Pass(const std::string& name) {
    std::unique_lock lock(mutex);
    begun.push_back(name);
    changed.notify_all();
    changed.wait(lock, [this] { return open; });
  }
  void WaitUntilBegun() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !begun.empty(); });
  }
  void Open() {
    std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> begun;  // guarded by mutex
  bool open = false;               // guarded by mutex
};

// Tokenises nothing, but passes the gate for each input. The name of an input
// is the first letter of its text. Starts in as many turns as max_new_tokens
// says, and passes the gate as "+" in each but the last.
class GatedHandler final : public Handler {
 public:
  explicit GatedHandler(InputGate& gate) : gate_(gate) {}
  absl::StatusOr<int> Start(const google::protobuf::Message& request) override {
    const auto& all = static_cast<const v1::GenerateRequest&>(request);
    if (++turns_ >= all.params().max_new_tokens()) return all.inputs_size();
    gate_.Pass("+");
    return kMore;
  }
  absl::Status StartInput(const google::protobuf::Message& request,
                          int index) override {
    const auto& all = static_cast<const v1::GenerateRequest&>(request);
    gate_.Pass(all.inputs(index).text().substr(0, 1));
    return absl::OkStatus();
  }
  void Continue(Responder& to) override { to.Finish(absl::OkStatus()); }

 private:
  InputGate& gate_;
  int turns_ = 0;
};

class TurnsTest : public ServiceCallTest {
 protected:
  // A method with the handler above.
  Method NewMethod() {
    static InputGate* gate;
    gate = &gate_;
    Method method = service_.methods.front();
    method.make = [](const Service&, CallContext&) -> std::unique_ptr<Handler> {
      return std::make_unique<GatedHandler>(*gate);
    };
    return method;
  }
  // What passes the gate when a short call comes while the first turn of a long
  // one is under way. One thread serves both.
  std::vector<std::string> Turns(const v1::GenerateRequest& long_request) {
    Build({});
    const Method method = NewMethod();
    const v1::GenerateRequest text = Generate("short", 1);
    LocalCall long_call(method, *environment_, long_request);
    LocalCall short_call(method, *environment_, text);
    std::thread one([&] { long_call.Run(); });
    gate_.WaitUntilBegun();
    short_call.Submit();
    gate_.Open();
    short_call.Await();
    one.join();
    return gate_.begun;
  }
  // What passes the gate when `end` ends a call of three turns in its first.
  std::vector<std::string> TurnsUntil(absl::FunctionRef<void(LocalCall&)> end) {
    Build({});
    const Method method = NewMethod();
    const v1::GenerateRequest request = Generate("a", 3);
    LocalCall call(method, *environment_, request);
    std::thread one([&] { call.Run(); });
    gate_.WaitUntilBegun();
    end(call);
    gate_.Open();
    one.join();
    EXPECT_TRUE(call.cancelled());
    return gate_.begun;
  }

  InputGate gate_;
};

TEST_F(TurnsTest, TheServerEndsALongStart) {
  EXPECT_THAT(TurnsUntil([this](LocalCall&) { environment_->Cut(); }),
              ElementsAre("+"));
}

TEST_F(TurnsTest, TheClientEndsALongStart) {
  EXPECT_THAT(TurnsUntil([](LocalCall& call) { call.Cancel(); }),
              ElementsAre("+"));
}

TEST_F(TurnsTest, AShortCallGoesBetweenTheInputsOfALongOne) {
  v1::GenerateRequest texts;
  for (const char name : {'a', 'b', 'c'}) {
    texts.add_inputs()->set_text(std::string(2 * kShortWork, name));
  }
  EXPECT_THAT(Turns(texts), ElementsAre("a", "s", "b", "c"));
}

TEST_F(TurnsTest, AShortCallGoesBetweenTheTurnsOfALongStart) {
  EXPECT_THAT(Turns(Generate(std::string(2 * kShortWork, 'a'), 3)),
              ElementsAre("+", "s", "+", "a"));
}

std::vector<std::string> Names(const std::vector<Span>& spans) {
  std::vector<std::string> names;
  for (const Span& span : spans) names.push_back(span.name);
  return names;
}

TEST_F(ServiceCallTest, ATracedCallRecordsItsPhases) {
  Tracer tracer({}, {.delay = absl::Milliseconds(1)}, metrics_.spans(), 1);
  service_.tracer = &tracer;
  Build({});
  const v1::GenerateRequest request = Generate("abcdefgh", 3);
  LocalCall call = NewCall("Generate", request);
  call.Run();
  EXPECT_EQ(call.end(), absl::OkStatus());
  EXPECT_THAT(Names(TakenSpans(tracer.queue())),
              ElementsAre("attend.v1.Attend/Generate", "tokenise", "queue",
                          "encode", "decode"));
  // What is refused has a span, too.
  environment_->Drain();
  LocalCall refused = NewCall("Generate", request);
  refused.Run();
  const std::vector<Span> spans = TakenSpans(tracer.queue());
  EXPECT_THAT(Names(spans), ElementsAre("attend.v1.Attend/Generate"));
  EXPECT_THAT(spans[0].error, HasSubstr("UNAVAILABLE"));
}

TEST_F(ServiceCallTest, ACallThatIsNotSampledRecordsNothing) {
  Tracer tracer({.share = 0}, {.delay = absl::Milliseconds(1)},
                metrics_.spans(), 1);
  service_.tracer = &tracer;
  Build({});
  const v1::GenerateRequest request = Generate("abcdefgh", 3);
  LocalCall call = NewCall("Generate", request);
  call.Run();
  tracer.queue().Close();
  EXPECT_THAT(TakenSpans(tracer.queue()), ElementsAre());
}

TEST(AttendMethodsTest, EveryMethodOfTheProtoFileIsServed) {
  std::set<std::string> served;
  for (const Method& method : AttendMethods()) served.insert(method.name());
  const auto* declared =
      v1::Model::descriptor()->file()->FindServiceByName("Attend");
  EXPECT_EQ(static_cast<int>(served.size()), declared->method_count());
  for (int i = 0; i < declared->method_count(); ++i) {
    EXPECT_EQ(served.count(declared->method(i)->name()), 1)
        << declared->method(i)->name();
  }
}

}  // namespace
}  // namespace attend
