// A server with TLS, and its clients.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr char kEnd[] = "attend_tls_certificate_expiry_timestamp_seconds";

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() {
    files_.MakeCa("ca");
    files_.MakeCa("other");
    files_.MakeSigned("server", "ca", "-days 90");
    files_.MakeSigned("new", "ca", "-days 60");
    files_.MakeSigned("client", "ca");
    files_.Run("cp server.crt crt; cp server.key key");
  }

  std::vector<std::string> Flags(const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"--tls-cert=" + files_.Path("crt"),
                                      "--tls-key=" + files_.Path("key")};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  // The command line, with names of files instead of paths.
  Outcome Attend(const ServerProcess& server, const std::string& arguments,
                 const std::string& variables = "") {
    return RunShell(absl::StrCat(
        "cd ", files_.Path("."), "; export ATTEND_ADDRESS=", server.address(),
        " ", variables, "; " ATTEND_CLI " ", arguments));
  }
  absl::Status Call(const ServerProcess& server, const ClientTlsFiles& files) {
    ClientOptions options = server.client_options();
    auto tls = ReadClientTls(files);
    if (!tls.ok()) return tls.status();
    options.tls = *std::move(tls);
    return Client(options).ListModels().status();
  }

  const CertificateFiles files_;
};

TEST_F(TlsTest, TheCommandLineReachesAServerThatAsksWhoItIs) {
  ServerProcess server(Flags({"--tls-client-ca=" + files_.Path("ca.crt")}));
  const std::string client = "--ca ca.crt --cert client.crt --key client.key ";
  for (const std::string& command :
       {"translate Hello. " + client, "translate --stream Hello. " + client,
        "models --server-name localhost " + client,
        "bench --requests 2 --max-new-tokens 2 " + client}) {
    const Outcome outcome = Attend(server, command);
    EXPECT_EQ(outcome.exit_code, 0) << command << outcome.err;
    EXPECT_NE(outcome.out, "") << command;
  }
  const Outcome variables =
      Attend(server, "models",
             "ATTEND_CA=ca.crt ATTEND_CERT=client.crt ATTEND_KEY=client.key");
  EXPECT_EQ(variables.exit_code, 0) << variables.err;
  const Outcome wrong =
      Attend(server, "models " + client + "--server-name else.where");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("else.where is not in peer certificate"));
  EXPECT_EQ(server.Get("/readyz").code, 200);  // plain text
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

TEST_F(TlsTest, TheHttpPortHasItIfItIsWanted) {
  ServerProcess server(Flags({"--http-tls"}));
  const std::string log = server.process().output();
  const size_t port = log.find(" http_port=") + 11;
  EXPECT_TRUE(files_.Try(
      absl::StrCat("curl -sf --cacert ca.crt https://localhost:",
                   log.substr(port, log.find(' ', port) - port), "/readyz")));
  EXPECT_EQ(server.Get("/readyz").code, 0);
  const std::string check =
      absl::StrCat(ATTEND_SERVER " --health-check --http-port=",
                   log.substr(port, log.find(' ', port) - port));
  EXPECT_EQ(RunShell(check + " --http-tls").exit_code, 0);
  EXPECT_EQ(RunShell(check).exit_code, 1);
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

TEST_F(TlsTest, ClientsThatMayNotComeIn) {
  const std::string cert = files_.Path("client.crt");
  const std::string key = files_.Path("client.key");
  ServerProcess server(Flags({"--tls-client-ca=" + files_.Path("ca.crt")}));
  EXPECT_TRUE(
      Call(server, {.ca = files_.Path("ca.crt"), .cert = cert, .key = key})
          .ok());
  EXPECT_TRUE(absl::IsUnavailable(Call(server, {.ca = files_.Path("ca.crt")})));
  // Not the client's: it does not trust the server.
  const absl::Status other =
      Call(server, {.ca = files_.Path("other.crt"), .cert = cert, .key = key});
  EXPECT_TRUE(absl::IsUnavailable(other));
  EXPECT_THAT(other.message(), HasSubstr("certificate verify failed"));
  EXPECT_TRUE(absl::IsUnavailable(
      Client(server.client_options()).ListModels().status()));
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

TEST_F(TlsTest, NewFilesAreServedAtASignal) {
  ServerProcess server(Flags({"--tls-client-ca=" + files_.Path("ca.crt"),
                              "--tls-client-auth=optional"}));
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::thread calls([&] {
    while (!stop) {
      if (!Call(server, {.ca = files_.Path("ca.crt")}).ok()) ++failures;
    }
  });
  const double before = server.Metric(kEnd);
  files_.Overwrite("new.crt", "crt");
  server.process().Signal(SIGHUP);
  EXPECT_TRUE(server.process().WaitForOutput("the key does not belong to"));
  EXPECT_EQ(server.Metric(kEnd), before);
  files_.Overwrite("new.key", "key");
  server.process().Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return server.Metric(kEnd) < before; }));
  stop = true;
  calls.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

}  // namespace
}  // namespace attend
