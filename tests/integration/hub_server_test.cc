// A server whose models are those of a hub.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "attend/v1/attend.grpc.pb.h"
#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/fake_hub.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HubServerTest : public ::testing::Test {
 protected:
  HubServerTest() : hub_(std::make_unique<FakeHub>(ATTEND_SOURCE_DIR)) {
    std::string name = ::testing::TempDir() + "hub_XXXXXX";
    directory_ = mkdtemp(name.data());
    setenv("HF_ENDPOINT", hub_->endpoint().c_str(), 1);
    setenv("HF_HUB_CACHE", directory_.c_str(), 1);
    setenv("HF_TOKEN", "s3cret", 1);
  }
  ~HubServerTest() override {
    unsetenv("HF_ENDPOINT");
    unsetenv("HF_HUB_CACHE");
    unsetenv("HF_TOKEN");
    fs::remove_all(directory_);
  }

  // All bits but the model's name.
  static std::string Answer(const ServerProcess& server,
                            const std::string& model) {
    v1::GenerateRequest request = Exactly({"a small dog"}, 8);
    request.set_model(model);
    Client client(server.client_options());
    auto response = client.Generate(request);
    EXPECT_TRUE(response.ok()) << response.status();
    if (!response.ok()) return "";
    response->clear_model();
    return Bits(*response);
  }

  // Whether the model "stalled/plain" has come as far as it comes.
  bool HasStalled() const {
    // Meanwhile files get their final names.
    std::error_code gone;
    for (auto entry = fs::recursive_directory_iterator(directory_, gone);
         !gone && entry != fs::recursive_directory_iterator();
         entry.increment(gone)) {
      std::error_code renamed;
      if (entry->path().extension() == ".incomplete" &&
          entry->file_size(renamed) == 50'000) {
        return true;
      }
    }
    return false;
  }

  std::unique_ptr<FakeHub> hub_;
  fs::path directory_;
};

// A port that nobody has, for now.
int FreePort() {
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(socket_fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(
      getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(socket_fd);
  return ntohs(address.sin_port);
}

TEST_F(HubServerTest, ServesWhatItFetchedAndLaterWhatItHas) {
  std::string first;
  {
    const std::string torch = "/tests/golden/marian/bin-only";
    ServerProcess server({"--hub=mine=bundled/en-de", "--hub=gone=missing/m",
                          "--hub=torch=bundled/bin-only",
                          "--model=local=" ATTEND_SOURCE_DIR + torch,
                          "--model-control=explicit"});
    first = Answer(server, "mine");
    // Weights that are in pytorch_model.bin alone.
    EXPECT_EQ(Answer(server, "torch"), Answer(server, "local"));
    EXPECT_EQ(first, Answer(SharedServer(), kModelName));
    const std::string log = server.process().output();
    EXPECT_THAT(log, HasSubstr("event=hub_fetched model=mine"));
    EXPECT_THAT(log, HasSubstr("file=model.safetensors"));
    EXPECT_THAT(log, HasSubstr("HF_ENDPOINT is without TLS"));
    EXPECT_THAT(log, Not(HasSubstr("s3cret")));
    EXPECT_THAT(log, HasSubstr("event=model_failed model=gone"));
    // A load asks the hub again.
    hub_->Journal();
    const auto admin = v1::Admin::NewStub(RawChannel(server.address()));
    v1::LoadModelRequest request;
    request.set_name("mine");
    v1::LoadModelResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(admin->LoadModel(&context, request, &response).ok());
    EXPECT_THAT(hub_->Journal(), HasSubstr("/api/models/bundled/en-de"));
    request.set_name("gone");
    grpc::ClientContext other;
    EXPECT_THAT(
        admin->LoadModel(&other, request, &response).error_message(),
        AllOf(HasSubstr("status 404"), Not(HasSubstr(directory_.string()))));
    EXPECT_EQ(server.Stop(), 0);
  }
  hub_.reset();
  const ServerProcess offline({"--hub=bundled/en-de", "--hub-offline"});
  EXPECT_EQ(Answer(offline, "en-de"), first);
}

TEST_F(HubServerTest, ASignalEndsADownload) {
  Process server({ATTEND_SERVER, "--host=127.0.0.1", "--port=0",
                  "--http-host=127.0.0.1", "--http-port=0",
                  "--hub=stalled/plain"});
  ASSERT_TRUE(Eventually([this] { return HasStalled(); })) << server.output();
  const absl::Time signal = absl::Now();
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
  EXPECT_LT(absl::Now() - signal, absl::Seconds(1));  // not the 10 of a stall
  EXPECT_THAT(server.output(), HasSubstr("event=stopped while=loading"));
}

// The first one holds the ports before it has a model, and listens on none.
TEST_F(HubServerTest, TwoServersOnAPortNoticeBeforeTheyLoad) {
  const std::string ports[] = {absl::StrCat(FreePort()),
                               absl::StrCat(FreePort())};
  const std::vector<std::string> first = {
      ATTEND_SERVER,         "--host=127.0.0.1",        "--port=" + ports[0],
      "--http-host=0.0.0.0", "--http-port=" + ports[1], "--hub=stalled/plain"};
  Process server(first);
  ASSERT_TRUE(Eventually([this] { return HasStalled(); })) << server.output();
  for (const std::string& flag :
       {"--port=" + ports[0], "--http-port=" + ports[1]}) {
    const bool grpc = flag == first[2];
    Process second({ATTEND_SERVER, "--port=0", "--http-port=0", flag,
                    "--model=" + BundledModel()});
    EXPECT_EQ(second.Wait(), 1);
    EXPECT_THAT(second.output(),
                AllOf(HasSubstr(absl::StrCat(
                          "cannot listen on 0.0.0.0:", ports[grpc ? 0 : 1],
                          ": address already in use")),
                      Not(HasSubstr("event=loading"))));
  }
  EXPECT_EQ(RunShell("curl -s http://127.0.0.1:" + ports[1]).exit_code, 7);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
}

TEST_F(HubServerTest, TheOnlyModelThatIsNotThereEndsTheServer) {
  Process server(
      {ATTEND_SERVER, "--port=0", "--http-port=0", "--hub=missing/plain@v1"});
  EXPECT_EQ(server.Wait(), 1);
  EXPECT_THAT(server.output(),
              AllOf(HasSubstr("event=failed"), HasSubstr("no such revision"),
                    HasSubstr("missing/plain/revision/v1")));
}

}  // namespace
}  // namespace attend
