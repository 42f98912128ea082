#include "server/tls/tls_files.h"

#include <gmock/gmock.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::Duration kDay = absl::Hours(24);

class TlsFilesTest : public testing::Test {
 protected:
  // Reads and checks, at a time from now.
  absl::StatusOr<TlsFiles> Load(const std::string& cert, const std::string& key,
                                const std::string& client_ca = "",
                                absl::Duration later = {}) {
    const TlsOptions options = {
        .cert = files_.Path(cert),
        .key = files_.Path(key),
        .client_ca = client_ca.empty() ? "" : files_.Path(client_ca)};
    auto texts = ReadPemTexts(options);
    if (!texts.ok()) return texts.status();
    return CheckPemTexts(options, *std::move(texts), absl::Now() + later);
  }
  std::string Error(const std::string& cert, const std::string& key,
                    const std::string& client_ca = "") {
    return std::string(Load(cert, key, client_ca).status().message());
  }
  std::string Path(const std::string& file) { return files_.Path(file); }

  const CertificateFiles files_;
};

TEST_F(TlsFilesTest, AKeyAndItsChain) {
  files_.MakeCa("a");
  files_.MakeCa("b");
  files_.Run("cat a.crt b.crt >chain.crt; cat a.crt a.key >both");
  for (const char* cert : {"a.crt", "chain.crt", "both"}) {
    const auto loaded = Load(cert, "a.key", "chain.crt");
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->pem.cert, files_.Text(cert));
    EXPECT_EQ(loaded->pem.key, files_.Text("a.key"));
    EXPECT_EQ(loaded->pem.client_ca, files_.Text("chain.crt"));
    EXPECT_THAT(loaded->warnings, IsEmpty());
  }
  EXPECT_TRUE(Load("both", "both").ok());
  // The first one counts.
  EXPECT_THAT(Error("chain.crt", "b.key"), HasSubstr("does not belong"));
}

TEST_F(TlsFilesTest, TheWrongFileIsNamed) {
  files_.MakeCa("a");
  files_.MakeCa("b");
  files_.Run("openssl ec -in a.key -aes128 -passout pass:word -out locked.key");
  files_.Run("head -c 300 a.crt >cut.crt; head -c 100 a.key >cut.key");
  files_.Run("cat a.crt cut.crt >tail.crt; echo text >text; : >empty");
  files_.Run("openssl x509 -in a.crt -outform DER -out der");
  files_.Run("cp a.crt zero.crt; printf '\\000' >>zero.crt");
  files_.Run("cp a.key zero.key; printf '\\000' >>zero.key");
  EXPECT_THAT(Error("a.crt", "b.key"),
              AllOf(HasSubstr(Path("b.key") + ": the key does not belong to"),
                    HasSubstr(Path("a.crt"))));
  for (const char* cert : {"text", "empty", "a.key", "der"}) {
    const std::string expected = Path(cert) + ": has no certificate";
    EXPECT_THAT(Error(cert, "a.key"), StartsWith(expected));
    EXPECT_THAT(Error("a.crt", "a.key", cert), StartsWith(expected));
  }
  for (const char* cert : {"cut.crt", "tail.crt", "zero.crt"}) {
    EXPECT_THAT(Error(cert, "a.key"), StartsWith(Path(cert) + ": has "));
    EXPECT_THAT(Error("a.crt", "a.key", cert),
                StartsWith(Path(cert) + ": has "));
  }
  for (const char* key : {"text", "empty", "a.crt", "cut.key", "der"}) {
    EXPECT_THAT(Error("a.crt", key),
                StartsWith(Path(key) + ": has no private key"));
  }
  EXPECT_THAT(Error("a.crt", "zero.key"), HasSubstr("zero.key: has a zero"));
  EXPECT_THAT(Error("a.crt", "locked.key"), HasSubstr("has a pass phrase"));
  EXPECT_THAT(Error("none", "a.key"), HasSubstr("none: no such file"));
  EXPECT_THAT(Error("a.crt", "none"), HasSubstr("none: no such file"));
  EXPECT_THAT(Error("a.crt", "a.key", "none"), HasSubstr("none: no such file"));
  EXPECT_THAT(Error(".", "a.key"), HasSubstr("not a regular file"));
}

// gRPC would refuse it when the first client comes.
TEST_F(TlsFilesTest, AKeyThatOpensslDoesNotTakeIsNamed) {
  files_.Run(
      "openssl req -x509 -newkey rsa:1024 -nodes -subj /CN=x -keyout a.key "
      "-out a.crt");
  EXPECT_THAT(Error("a.crt", "a.key"),
              AllOf(StartsWith(Path("a.crt")), HasSubstr("ee key too small")));
}

TEST_F(TlsFilesTest, ErrorsSayNothingOfTheKey) {
  files_.MakeCa("a");
  files_.Run("sed s/PRIVATE/PRIVAT/ a.key >odd.key");
  const std::string text = files_.Text("a.key");
  const std::string secret = text.substr(text.find('\n') + 1, 20);
  EXPECT_THAT(Error("a.crt", "odd.key"), Not(HasSubstr(secret)));
}

TEST_F(TlsFilesTest, WarnsOfTheEndOfACertificate) {
  files_.MakeCa("a");  // for 90 days
  files_.MakeCa("ca", "-days 45");
  const auto now = Load("a.crt", "a.key", "ca.crt");
  ASSERT_TRUE(now.ok()) << now.status();
  EXPECT_LT(now->end - absl::Now(), 90 * kDay);
  EXPECT_GT(now->end - absl::Now(), 89 * kDay);
  const auto warnings = [&](absl::Duration later) {
    return Load("a.crt", "a.key", "ca.crt", later)->warnings;
  };
  EXPECT_THAT(warnings(44 * kDay), IsEmpty());
  EXPECT_THAT(warnings(59 * kDay),
              ElementsAre(HasSubstr("ca.crt: the last CA of clients has ended "
                                    "on ")));
  EXPECT_THAT(warnings(61 * kDay),
              ElementsAre(HasSubstr("a.crt: the certificate ends on "),
                          HasSubstr("ca.crt")));
  EXPECT_THAT(warnings(91 * kDay),
              ElementsAre(HasSubstr("a.crt: the certificate has ended on "),
                          HasSubstr("ca.crt")));
  EXPECT_THAT(warnings(-2 * kDay),
              ElementsAre(HasSubstr("a.crt: the certificate begins on ")));
}

}  // namespace
}  // namespace attend
