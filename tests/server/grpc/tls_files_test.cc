#include "server/grpc/tls_files.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Files that the program openssl has made.
class TlsFilesTest : public testing::Test {
 protected:
  TlsFilesTest() {
    std::string name = testing::TempDir() + "tls_XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~TlsFilesTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& file) {
    return (directory_ / file).string();
  }
  void Run(const std::string& command) {
    ASSERT_EQ(std::system(("cd " + directory_.string() + " && (" + command +
                           ") >log 2>&1")
                              .c_str()),
              0)
        << command;
  }
  // NAME.crt and NAME.key
  void Make(const std::string& name, const std::string& more = "-days 2") {
    Run(absl::StrCat("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x ",
                     "-keyout ", name, ".key -out ", name, ".crt ", more));
  }
  std::string Error(const std::string& cert, const std::string& key) {
    return std::string(ReadTlsFiles(Path(cert), Path(key)).status().message());
  }

  std::filesystem::path directory_;
};

TEST_F(TlsFilesTest, AKeyAndItsChain) {
  Make("a");
  Make("b");
  Run("cat a.crt b.crt >chain.crt");
  for (const char* cert : {"a.crt", "chain.crt"}) {
    const auto files = ReadTlsFiles(Path(cert), Path("a.key"));
    ASSERT_TRUE(files.ok()) << files.status();
    EXPECT_THAT(files->cert, HasSubstr("BEGIN CERTIFICATE"));
    EXPECT_THAT(files->key, HasSubstr("PRIVATE KEY"));
    EXPECT_THAT(files->warnings, IsEmpty());
  }
  // The first one counts.
  EXPECT_THAT(Error("chain.crt", "b.key"), HasSubstr("does not belong"));
}

TEST_F(TlsFilesTest, TheWrongFileIsNamed) {
  Make("a");
  Make("b");
  Run("openssl rsa -in a.key -aes128 -passout pass:word -out locked.key");
  Run("head -c 300 a.crt >cut.crt; head -c 300 a.key >cut.key");
  Run("cat a.crt cut.crt >tail.crt; echo text >text; : >empty");
  EXPECT_THAT(Error("a.crt", "b.key"),
              AllOf(HasSubstr(Path("b.key") + ": the key does not belong to"),
                    HasSubstr(Path("a.crt"))));
  for (const char* cert : {"text", "empty", "a.key"}) {
    EXPECT_EQ(Error(cert, "a.key").find(Path(cert) + ": has no certificate"),
              0u)
        << Error(cert, "a.key");
  }
  for (const char* cert : {"cut.crt", "tail.crt"}) {
    EXPECT_EQ(Error(cert, "a.key").find(Path(cert) + ": has "), 0u)
        << Error(cert, "a.key");
  }
  for (const char* key : {"text", "empty", "a.crt", "cut.key"}) {
    EXPECT_EQ(Error("a.crt", key).find(Path(key) + ": has no private key"), 0u)
        << Error("a.crt", key);
  }
  EXPECT_THAT(Error("a.crt", "locked.key"), HasSubstr("has a pass phrase"));
  EXPECT_THAT(Error("none", "a.key"), HasSubstr("none: no such file"));
  EXPECT_THAT(Error("a.crt", "none"), HasSubstr("none: no such file"));
  EXPECT_THAT(
      ReadTlsFiles(directory_.string(), Path("a.key")).status().message(),
      HasSubstr("not a regular file"));
}

TEST_F(TlsFilesTest, ErrorsSayNothingOfTheKey) {
  Make("a");
  Run("sed s/PRIVATE/PRIVAT/ a.key >odd.key");
  std::ifstream file(Path("odd.key"));
  std::string line;
  std::getline(file, line);
  std::getline(file, line);
  EXPECT_THAT(Error("a.crt", "odd.key"), Not(HasSubstr(line.substr(0, 20))));
}

TEST_F(TlsFilesTest, ACertificateOutOfItsTimeIsAWarning) {
  Make("a");
  Run("openssl req -new -key a.key -subj /CN=x -out a.csr");
  Run("openssl x509 -req -in a.csr -signkey a.key -days -1 -out old.crt");
  const auto files = ReadTlsFiles(Path("old.crt"), Path("a.key"));
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(files->warnings,
              ElementsAre(HasSubstr("old.crt: the certificate has ended on")));
}

}  // namespace
}  // namespace attend
