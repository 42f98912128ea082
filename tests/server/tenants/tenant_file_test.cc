#include "server/tenants/tenant_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "server/tenants/key_hash.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Time kNow = absl::UnixEpoch();
// Of the keys "abc" and "".
constexpr char kAbc[] =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kOther[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string Text(const std::string& name, const std::string& hash) {
  return absl::StrCat(R"({"tenants": [{"name": ")", name, R"(", "keys": [")",
                      hash, "\"]}]}");
}

class TenantFileTest : public ::testing::Test {
 protected:
  ~TenantFileTest() override {
    std::filesystem::remove(path_);
    std::filesystem::remove(log_path_);
  }

  // As editors and Kubernetes do: another file takes the place of the old one.
  void Write(const std::string& text) {
    std::ofstream(path_ + ".new") << text;
    std::filesystem::rename(path_ + ".new", path_);
  }
  absl::Status Open() {
    auto file = TenantFile::Open(path_, references_, metrics_, *log_, kNow);
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
    return absl::OkStatus();
  }
  std::string Who() const {
    const auto found = file_->tenants().Find({.authorization = "Bearer abc"});
    return found.ok() ? (*found)->name() : "nobody";
  }
  // All lines so far; none come any more.
  std::string EndLog() {
    log_.reset();
    std::ifstream file(log_path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string path_ =
      absl::StrCat(::testing::TempDir(), "attend_tenants_", getpid(), ".json");
  const std::string log_path_ = path_ + ".log";
  struct Descriptor {
    const int number;
    ~Descriptor() { close(number); }
  } out_{open(log_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)};
  std::unique_ptr<Log> log_ = std::make_unique<Log>(LogOptions(), out_.number);
  TenantReferences references_ = {.models = {"m", "n"}};
  Metrics metrics_{"1", {}};
  std::unique_ptr<TenantFile> file_;
};

TEST_F(TenantFileTest, AFileThatCannotBeUsedIsAnError) {
  EXPECT_EQ(Open(), absl::NotFoundError(path_ + ": no such file"));
  Write("{");
  EXPECT_THAT(Open().message(),
              AllOf(HasSubstr(path_), HasSubstr("not valid json")));
}

TEST_F(TenantFileTest, IsReadAgainWhenItHasChanged) {
  Write(Text("a", kAbc));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Who(), "a");
  file_->ReloadIfChanged(kNow);
  Write(Text("b", kAbc));
  EXPECT_EQ(Who(), "a");
  file_->ReloadIfChanged(kNow);
  EXPECT_EQ(Who(), "b");
  // Twice, not three times.
  const std::string log = EndLog();
  const size_t second =
      log.find("event=tenants ", log.find("event=tenants ") + 1);
  ASSERT_NE(second, std::string::npos) << log;
  EXPECT_EQ(log.find("event=tenants", second + 1), std::string::npos) << log;
}

TEST_F(TenantFileTest, IsReadAgainWhenItsRightsHaveChanged) {
  Write(Text("a", kAbc));
  ASSERT_TRUE(Open().ok());
  struct stat before, now;
  ASSERT_EQ(stat(path_.c_str(), &before), 0);
  do {  // until the time of the system has gone on
    ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
    ASSERT_EQ(stat(path_.c_str(), &now), 0);
  } while (now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
  file_->ReloadIfChanged(kNow);
  const std::string log = EndLog();
  EXPECT_NE(log.find("event=tenants "), log.rfind("event=tenants ")) << log;
}

TEST_F(TenantFileTest, ABrokenFileLeavesTheTenantsAsTheyWere) {
  Write(Text("a", kAbc));
  ASSERT_TRUE(Open().ok());
  Write(Text("b c", kAbc));
  file_->ReloadIfChanged(kNow);
  file_->ReloadIfChanged(kNow);  // says nothing again
  EXPECT_EQ(Who(), "a");
  std::filesystem::remove(path_);
  file_->ReloadIfChanged(kNow);
  EXPECT_EQ(Who(), "a");
  Write(Text("b", kOther));
  file_->ReloadIfChanged(kNow);
  EXPECT_EQ(Who(), "nobody");
  const std::string log = EndLog();
  const size_t broken = log.find("event=tenants_failed");
  ASSERT_NE(broken, std::string::npos) << log;
  EXPECT_THAT(log.substr(broken), HasSubstr("name is"));
  const size_t missing = log.find("event=tenants_failed", broken + 1);
  ASSERT_NE(missing, std::string::npos) << log;
  EXPECT_THAT(log.substr(missing), HasSubstr("no such file"));
}

TEST_F(TenantFileTest, IsReadAgainWhenAsked) {
  Write(Text("a", kAbc));
  ASSERT_TRUE(Open().ok());
  file_->Reload(kNow);
  const std::string log = EndLog();
  EXPECT_NE(log.find("event=tenants "), log.rfind("event=tenants ")) << log;
}

TEST_F(TenantFileTest, WarnsOfWhatIsNotThere) {
  Write(absl::StrCat(R"({"tenants": [{"name": "a", "keys": [")", kAbc,
                     R"("], "models": ["m", "mm"], "certificates": ["x"]}]})"));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Who(), "a");
  Write(absl::StrCat(R"({"tenants": [{"name": "b", "keys": [")", kAbc,
                     R"("], "models": ["o"]}]})"));
  file_->Reload(kNow);
  EXPECT_EQ(Who(), "b");
  EXPECT_THAT(
      EndLog(),
      AllOf(HasSubstr("level=warning event=tenants"),
            HasSubstr("tenant=a warning=\"there is no such model\" name=mm "
                      "models=\"m,n\""),
            HasSubstr("tenant=a warning=\"no --tls-client-ca, so certificates "
                      "count for nothing\" name=x"),
            HasSubstr("tenant=b warning=\"there is no such model\" name=o "),
            Not(HasSubstr("name=m "))));
}

TEST_F(TenantFileTest, WarnsOfNothingElse) {
  references_.client_certificates = true;
  Write(absl::StrCat(R"({"tenants": [{"name": "a", "keys": [")", kAbc,
                     R"("], "models": ["n"], "certificates": ["x"]}]})"));
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(EndLog(), Not(HasSubstr("level=warning")));
}

// A reload must not end with the server waiting for a pipe.
TEST_F(TenantFileTest, APipeInItsPlaceChangesNothing) {
  Write(Text("a", kAbc));
  ASSERT_TRUE(Open().ok());
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  file_->Reload(kNow);
  EXPECT_EQ(Who(), "a");
  EXPECT_THAT(EndLog(), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace attend
