#ifndef ATTEND_TESTS_SERVER_GRPC_RPC_FIXTURE_H_
#define ATTEND_TESTS_SERVER_GRPC_RPC_FIXTURE_H_

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.grpc.pb.h"
#include "server/app/served_models.h"
#include "server/grpc/rpc_server.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_tokenizer.h"

namespace attend {

struct RpcFixtureOptions {
  FakeEngineOptions engine;
  // Chat template of the models that continue text; empty: none.
  std::string chat_template = {};
  // Further models, with names of their own.
  std::vector<FakeEngineOptions> more_engines = {};
  // Models that could not be loaded, by name, behind the others.
  std::vector<std::pair<std::string, absl::Status>> broken = {};
  // Of services beside attend.v1's.
  std::vector<Method> more_methods = {};
  SchedulerOptions scheduler;
  // A handshake that is instrumented may take longer than clients are given.
  RpcOptions rpc = {
      .host = "127.0.0.1", .port = 0, .handshake_timeout = absl::Minutes(2)};
  size_t max_unread_bytes = size_t{256} << 20;
  size_t max_request_bytes = kMaxRequestBytes;
  // Must outlive the fixture; null: calls need no key.
  const Tenants* tenants = nullptr;
  // Must outlive the fixture; null: no TLS.
  const Certificates* certificates = nullptr;
  // Must outlive the fixture; null: the machine's.
  const Clock* clock = nullptr;
};

// A whole server over fakes, and a client of it through the loopback.
class RpcFixture {
 public:
  explicit RpcFixture(RpcFixtureOptions options = {})
      : clock(options.clock == nullptr ? steady_clock_ : *options.clock),
        methods(AllMethods(options.more_methods)),
        metrics("test", MethodNames(methods)),
        log(LogOptions(), null_.descriptor),
        models(options.scheduler, clock, metrics, signal_),
        engine(Add(options.engine, options.chat_template)) {
    for (const FakeEngineOptions& more : options.more_engines) {
      Add(more, options.chat_template);
    }
    for (const auto& [name, reason] : options.broken) models.Add(name, reason);
    calls.emplace(Service{.models = models.table(),
                          .clock = clock,
                          .other_calls = metrics.other_calls(),
                          .log = log,
                          .max_batch_inputs = options.rpc.max_batch_inputs,
                          .max_unread_bytes = options.max_unread_bytes,
                          .max_request_bytes = options.max_request_bytes,
                          .tenants = options.tenants,
                          .methods = methods},
                  options.rpc.tokenizer_threads,
                  options.rpc.max_tokenizer_queue);
    auto started =
        RpcServer::Start(options.rpc, *calls, signal_, metrics.connections(),
                         options.certificates);
    EXPECT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
    stub = NewStub({});
  }
  ~RpcFixture() {
    for (FakeEngine* one : engines) one->OpenGate();
    server.reset();
  }

  std::shared_ptr<grpc::Channel> NewChannel(grpc::ChannelArguments arguments) {
    // Of its own: channels otherwise share a connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", server->port()),
                                     grpc::InsecureChannelCredentials(),
                                     arguments);
  }
  std::unique_ptr<v1::Attend::Stub> NewStub(
      const grpc::ChannelArguments& arguments) {
    return v1::Attend::NewStub(NewChannel(arguments));
  }
  // Returns when no request is left in a scheduler.
  void WaitUntilFree() {
    for (FakeEngine* one : engines) {
      while (one->live_sequences() > 0) std::this_thread::yield();
    }
  }

 private:
  static std::vector<Method> AllMethods(const std::vector<Method>& more) {
    std::vector<Method> all = AttendMethods();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  static std::unique_ptr<ChatTemplate> LoadChat(const std::string& source) {
    const std::string directory =
        absl::StrCat(testing::TempDir(), "/chat", getpid());
    std::filesystem::create_directories(directory);
    std::ofstream(directory + "/chat_template.jinja") << source;
    auto loaded = ChatTemplate::Load(directory);
    std::filesystem::remove_all(directory);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return *std::move(loaded);
  }

  FakeEngine& Add(const FakeEngineOptions& options,
                  const std::string& chat_template) {
    auto added = std::make_unique<FakeEngine>(options);
    engines.push_back(added.get());
    auto tokenizer = std::make_unique<FakeTokenizer>();
    auto grammars = std::make_unique<GrammarCompiler>(
        *tokenizer, options.info.target_vocab, !options.info.continues_source);
    models.Add(options.info.name, Model{.engine = std::move(added),
                                        .tokenizer = std::move(tokenizer),
                                        .chat = options.info.continues_source &&
                                                        !chat_template.empty()
                                                    ? LoadChat(chat_template)
                                                    : nullptr,
                                        .grammars = std::move(grammars)});
    return *engines.back();
  }

  struct NullDevice {
    const int descriptor = open("/dev/null", O_WRONLY);
    ~NullDevice() { close(descriptor); }
  };
  const NullDevice null_;
  const SteadyClock steady_clock_;
  StepSignal signal_;

 public:
  const Clock& clock;
  const std::vector<Method> methods;
  Metrics metrics;
  Log log;
  ServedModels models;
  std::vector<FakeEngine*> engines;  // of all models that are served
  FakeEngine& engine;                // the first of them
  std::optional<CallEnvironment> calls;
  std::unique_ptr<RpcServer> server;
  std::unique_ptr<v1::Attend::Stub> stub;
};

// A request for `tokens` tokens from each text.
inline v1::GenerateRequest MakeRequest(const std::vector<std::string>& texts,
                                       int tokens) {
  v1::GenerateRequest request;
  for (const std::string& text : texts) request.add_inputs()->set_text(text);
  request.mutable_params()->set_max_new_tokens(tokens);
  return request;
}

// All chunks of a stream.
struct StreamResult {
  grpc::Status status;
  std::vector<v1::GenerateChunk> chunks;
};
inline StreamResult ReadStream(v1::Attend::Stub& stub,
                               const v1::GenerateRequest& request) {
  grpc::ClientContext context;
  auto reader = stub.GenerateStream(&context, request);
  StreamResult result;
  v1::GenerateChunk chunk;
  while (reader->Read(&chunk)) result.chunks.push_back(chunk);
  result.status = reader->Finish();
  return result;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_GRPC_RPC_FIXTURE_H_
