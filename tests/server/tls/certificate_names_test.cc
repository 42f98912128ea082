#include "server/tls/certificate_names.h"

#include <gmock/gmock.h>

#include <string>

#include "server/tls/pem.h"
#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

TEST(CertificateNamesTest, AlternativesOrElseTheCommonName) {
  const CertificateFiles files;
  files.MakeCa("ca");
  const auto names = [&](const std::string& alternatives) {
    files.MakeClient("anna", "ca", alternatives);
    const auto read = ParseCertificates("anna.crt", files.Text("anna.crt"));
    EXPECT_TRUE(read.ok()) << read.status();
    return CertificateNames(*read->front());
  };
  EXPECT_THAT(names(""), ElementsAre("anna"));
  EXPECT_THAT(names("email:a@b.c,URI:spiffe://x,DNS:a,DNS:b,IP:127.0.0.1"),
              ElementsAre("a", "b", "spiffe://x", "a@b.c"));
  // No name.
  EXPECT_THAT(names("IP:127.0.0.1"), ElementsAre("anna"));
}

}  // namespace
}  // namespace attend
