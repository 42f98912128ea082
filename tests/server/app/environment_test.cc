#include "server/app/environment.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Unknown(const char* entry) {
  const char* const environment[] = {"PATH=/bin", entry, nullptr};
  return UnknownVariables(environment, {"ATTEND_PORT", "ATTEND_MAX_RUNNING"});
}

// Kubernetes sets seven variables for a port of a service, here "attend" with a
// named port, and "attend-http"; Docker's links have the same form.
TEST(EnvironmentTest, ServiceLinksAreNoMisspeltOptions) {
  for (const char* entry :
       {"ATTEND_SERVICE_HOST=10.0.0.1", "ATTEND_SERVICE_PORT=50051",
        "ATTEND_SERVICE_PORT_GRPC=50051", "ATTEND_PORT=tcp://10.0.0.1:50051",
        "ATTEND_PORT_50051_TCP=tcp://10.0.0.1:50051",
        "ATTEND_PORT_50051_TCP_PROTO=tcp", "ATTEND_PORT_50051_TCP_PORT=50051",
        "ATTEND_PORT_50051_TCP_ADDR=10.0.0.1",
        "ATTEND_HEADLESS_SERVICE_HOST=10.0.0.1",
        "ATTEND_DNS_PORT=udp://[fd00::1]:53",
        "ATTEND_DNS_PORT_53_UDP_PROTO=udp",
        "ATTEND_X_PORT_9_SCTP_ADDR=10.0.0.1"}) {
    EXPECT_THAT(Unknown(entry), IsEmpty()) << entry;
  }
}

TEST(EnvironmentTest, OtherNamesThatSetNothingAreNamed) {
  EXPECT_THAT(Unknown("ATTEND_MAX_RUNING=3"),
              ElementsAre("the variable ATTEND_MAX_RUNING sets no option; did "
                          "you mean ATTEND_MAX_RUNNING?; see --help"));
  EXPECT_THAT(Unknown("ATTEND_=1"),
              ElementsAre("the variable ATTEND_ sets no option; see --help"));
  EXPECT_THAT(Unknown("ATTEND_PORT_X_TCP=1").size(), 1);
  EXPECT_THAT(Unknown("ATTEND_SERVICE=1").size(), 1);
  EXPECT_THAT(Unknown("ATTEND_NO_VALUE").size(), 1);
  for (const char* entry : {"ATTEND_PORT=x", "ATTEND_TOKEN=t", "ATTENDANCE=1",
                            "attend_port=1", "ATTEND", "=", ""}) {
    EXPECT_THAT(Unknown(entry), IsEmpty()) << entry;
  }
  EXPECT_LT(Unknown(absl::StrCat("ATTEND_", std::string(5000, 'A')).c_str())[0]
                .size(),
            300);
}

TEST(EnvironmentTest, OnlyAddressesForPortsAreServiceLinks) {
  EXPECT_TRUE(IsServiceLink("port", "tcp://10.0.0.1:50051"));
  EXPECT_TRUE(IsServiceLink("http-port", "udp://[fd00::1]:53"));
  EXPECT_TRUE(IsServiceLink("port", "sctp://a"));
  EXPECT_FALSE(IsServiceLink("port", "50051"));
  EXPECT_FALSE(IsServiceLink("port", "http://10.0.0.1:50051"));
  EXPECT_FALSE(IsServiceLink("port", ""));
  EXPECT_FALSE(IsServiceLink("host", "tcp://10.0.0.1:50051"));
  EXPECT_FALSE(IsServiceLink("support", "tcp://10.0.0.1:50051"));
}

}  // namespace
}  // namespace attend
