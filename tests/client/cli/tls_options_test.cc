// Options of TLS and the token; tests/integration makes the connections.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/command_line.h"
#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using TlsOptionsTest = CommandLineTest;

TEST_F(TlsOptionsTest, TheTokenIsSentWithEachCall) {
  EXPECT_EQ(Run("translate x").exit_code, 0);
  EXPECT_EQ(service_.authorization(), "");
  for (const char* command :
       {"translate x", "translate --stream x", "bench --requests 1",
        "bench --stream --requests 1", "embed x"}) {
    const Outcome outcome = Run(absl::StrCat(command, " --token a.b-c"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(service_.authorization(), "Bearer a.b-c") << command;
  }
  Run("models --token ''; ATTEND_TOKEN=v " ATTEND_BINARY " translate x");
  EXPECT_EQ(service_.authorization(), "Bearer v");
  const Outcome wrong = Run("models --token 'secret word'");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--token"));
  EXPECT_THAT(wrong.err, Not(HasSubstr("secret")));
}

TEST_F(TlsOptionsTest, TheWrongFileIsNamed) {
  const CertificateFiles files;
  files.MakeCa("a");
  files.MakeCa("b");
  files.Run("openssl ec -in a.key -aes128 -passout pass:word -out locked.key");
  const std::string a = absl::StrCat(" --cert ", files.Path("a.crt"));
  const auto error = [&](const std::string& options) {
    const Outcome outcome = Run("models " + options);
    EXPECT_EQ(outcome.exit_code, 2) << options;
    return outcome.err;
  };
  EXPECT_THAT(error("--ca nowhere"), HasSubstr("nowhere: cannot be read: No"));
  EXPECT_THAT(error("--ca ."), HasSubstr(".: cannot be read: Is a directory"));
  EXPECT_THAT(error("--ca " + files.Path("a.key")),
              HasSubstr("a.key: has no certificate in PEM"));
  EXPECT_THAT(error(a), HasSubstr("cert and key must be given together"));
  EXPECT_THAT(error("--key k"), HasSubstr("cert and key must be given"));
  EXPECT_THAT(error(a + " --key " + files.Path("a.crt")),
              HasSubstr("a.crt: has no private key in PEM"));
  EXPECT_THAT(error(a + " --key " + files.Path("b.key")),
              HasSubstr("b.key: the key does not belong to"));
  EXPECT_THAT(error(a + " --key " + files.Path("locked.key")),
              HasSubstr("locked.key: has a key that cannot be read"));
}

}  // namespace
}  // namespace attend
