#include "server/app/served_certificates.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSeries[] = "attend_tls_certificate_expiry_timestamp_seconds";

// A log that is read while it is written.
class LogPipe {
 public:
  LogPipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~LogPipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  int end() const { return ends_[1]; }
  std::string NextLine() const {
    std::string line;
    for (char byte; read(ends_[0], &byte, 1) == 1 && byte != '\n';) {
      line.push_back(byte);
    }
    return line;
  }

 private:
  int ends_[2] = {};
};

TEST(ServedCertificatesTest, TheLogAndTheMetricsTellOfThem) {
  const CertificateFiles files;
  files.MakeCa("a", "-days 10");
  files.MakeCa("b", "-days 90");
  const LogPipe pipe;
  Log log({.min_level = LogLevel::kInfo}, pipe.end());
  Metrics metrics("test", {});
  ASSERT_TRUE(LoadCertificates({}, metrics, log).ok());
  EXPECT_THAT(metrics.Serialize(), Not(HasSubstr(kSeries)));

  const auto loaded = LoadCertificates(
      {.cert = files.Path("a.crt"), .key = files.Path("a.key")}, metrics, log);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(pipe.NextLine(), AllOf(HasSubstr("level=info event=tls serves="),
                                     HasSubstr("a.crt ends=2")));
  EXPECT_THAT(pipe.NextLine(), AllOf(HasSubstr("level=warning event=tls "),
                                     HasSubstr("the certificate ends on")));
  const std::string before = metrics.Serialize();
  EXPECT_THAT(before, HasSubstr(kSeries));

  files.Rename("b.crt", "a.crt");
  (*loaded)->LookNow();
  EXPECT_THAT(pipe.NextLine(),
              AllOf(HasSubstr("level=error event=tls refused="),
                    HasSubstr("a.key: the key does not")));
  const auto series = [](const std::string& text) {
    const size_t begin = text.find(absl::StrCat("\n", kSeries));
    return text.substr(begin, text.find('\n', begin + 1) - begin);
  };
  EXPECT_EQ(series(metrics.Serialize()), series(before));
  files.Rename("b.key", "a.key");
  (*loaded)->LookNow();
  EXPECT_THAT(pipe.NextLine(), HasSubstr("level=info event=tls serves="));
  EXPECT_NE(series(metrics.Serialize()), series(before));
}

}  // namespace
}  // namespace attend
