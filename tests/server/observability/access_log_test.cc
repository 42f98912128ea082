#include "server/observability/access_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/observability/metrics.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class AccessLogTest : public ::testing::Test {
 protected:
  AccessLogTest() { fs::create_directories(directory_); }
  ~AccessLogTest() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ / name; }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::unique_ptr<AccessLog> Open(const AccessLogOptions& options,
                                         Log& log) {
    auto opened = AccessLog::Open(options, log);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  const fs::path directory_ =
      fs::path(::testing::TempDir()) /
      ("access_log_" + std::to_string(getpid()) + "_" +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(AccessLogTest, AShareOfCallsHasALineAndEveryFailure) {
  Log log({}, STDERR_FILENO);
  const auto wanted = [&](double share, const absl::Status& status) {
    const auto access = Open({.file = Path("log"), .share = share}, log);
    std::string calls;
    for (int i = 0; i < 10; ++i) {
      calls.push_back(access->Wants(status) ? 'x' : '.');
    }
    return calls;
  };
  EXPECT_EQ(wanted(1, absl::OkStatus()), "xxxxxxxxxx");
  EXPECT_EQ(wanted(0.5, absl::OkStatus()), ".x.x.x.x.x");
  EXPECT_EQ(wanted(0.1, absl::OkStatus()), ".........x");
  EXPECT_EQ(wanted(0, absl::OkStatus()), "..........");
  EXPECT_EQ(wanted(0, absl::NotFoundError("")), "xxxxxxxxxx");
}

TEST_F(AccessLogTest, OffHasNoLineAndMakesNoFile) {
  Log log({}, STDERR_FILENO);
  const auto access =
      Open({.form = AccessLogForm::kOff, .file = Path("log")}, log);
  EXPECT_FALSE(access->Wants(absl::InternalError("")));
  EXPECT_FALSE(access->has_file());
  EXPECT_FALSE(fs::exists(Path("log")));
}

// Without a file the lines are the log's, whose level and format count.
TEST_F(AccessLogTest, WithoutAFileTheLogHasTheLines) {
  const auto write = [&](const LogOptions& options, AccessLogForm form) {
    const int out = open(Path("log").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    {
      Log log(options, out);
      const auto access = Open({.form = form}, log);
      if (access->Wants(absl::OkStatus())) access->Write({{"id", "7"}});
    }
    close(out);
    return Read("log");
  };
  EXPECT_THAT(write({}, AccessLogForm::kAuto),
              HasSubstr("level=info event=call id=7\n"));
  EXPECT_THAT(write({.format = LogFormat::kJson}, AccessLogForm::kAuto),
              HasSubstr(R"("event":"call","id":"7"})"));
  EXPECT_THAT(write({}, AccessLogForm::kJson),
              HasSubstr(R"("event":"call","id":"7"})"));
  EXPECT_EQ(write({.min_level = LogLevel::kWarning}, AccessLogForm::kAuto), "");
}

TEST_F(AccessLogTest, AFileHasLinesWhateverTheLevelOfTheLog) {
  Log log({.min_level = LogLevel::kError}, STDERR_FILENO);
  std::ofstream(Path("log")) << "before\n";
  {
    const auto access =
        Open({.form = AccessLogForm::kJson, .file = Path("log")}, log);
    ASSERT_TRUE(access->Wants(absl::OkStatus()));
    access->Write({{"model", "\xff\"\n"}, {"seconds", 0.5}});
  }
  const std::string text = Read("log");
  ASSERT_EQ(text.substr(0, 7), "before\n");
  const auto line = nlohmann::json::parse(text.substr(7));  // throws: no JSON
  EXPECT_EQ(line["model"], "\uFFFD\"\n");
  EXPECT_EQ(line["seconds"], 0.5);
}

// What logrotate does: it moves the file away, and asks for a new one.
TEST_F(AccessLogTest, ReopeningFollowsTheName) {
  Log log({}, STDERR_FILENO);
  const auto access = Open({.file = Path("log")}, log);
  access->Write({{"id", "a"}});
  EXPECT_TRUE(WaitUntil([&] { return Read("log").find("id=a\n") != -1ul; }));
  fs::rename(Path("log"), Path("log.1"));
  access->Write({{"id", "b"}});
  EXPECT_TRUE(WaitUntil([&] { return Read("log.1").find("id=b\n") != -1ul; }));
  ASSERT_TRUE(access->Reopen().ok());
  access->Write({{"id", "c"}});
  EXPECT_TRUE(WaitUntil([&] { return Read("log").find("id=c\n") != -1ul; }));
  EXPECT_THAT(Read("log.1"), Not(HasSubstr("id=c")));
  EXPECT_EQ(access->dropped(), 0);
}

TEST_F(AccessLogTest, AFileThatCannotBeOpenedIsNamed) {
  Log log({}, STDERR_FILENO);
  const std::string path = Path("none/log");
  EXPECT_THAT(AccessLog::Open({.file = path}, log).status().message(),
              AllOf(HasSubstr("access_log_file"), HasSubstr(path),
                    HasSubstr("No such file")));
  // Nor does a FIFO that nobody reads hold anybody.
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(AccessLog::Open({.file = Path("fifo")}, log).status().message(),
              HasSubstr("nobody reads it"));
  // The file that is open stays.
  fs::create_directory(Path("here"));
  const auto access = Open({.file = Path("here/log")}, log);
  fs::rename(Path("here"), Path("there"));
  EXPECT_FALSE(access->Reopen().ok());
  access->Write({{"id", "still"}});
  EXPECT_TRUE(
      WaitUntil([&] { return Read("there/log").find("id=still\n") != -1ul; }));
}

// A reader that takes nothing loses lines, and holds neither calls nor the next
// file. The metrics tell of it.
TEST_F(AccessLogTest, AFullFifoHoldsNobodyAndItsLossIsCounted) {
  ASSERT_EQ(mkfifo(Path("log").c_str(), 0600), 0);
  const int reader = open(Path("log").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  Log log({}, STDERR_FILENO);
  Metrics metrics("test", {});
  const auto access = Open({.file = Path("log")}, log);
  metrics.AddLog("access", [&] { return access->dropped(); });
  EXPECT_THAT(metrics.Serialize(), Not(HasSubstr("log_lines_dropped")));
  for (size_t i = 0; i < 3 * LineWriter::kMaxQueuedLines; ++i) {
    access->Write({{"text", std::string(100, 'x')}});
  }
  EXPECT_GT(access->dropped(), 0);
  EXPECT_THAT(metrics.Serialize(),
              HasSubstr("attend_log_lines_dropped_total{log=\"access\"} "));
  fs::remove(Path("log"));
  ASSERT_TRUE(access->Reopen().ok());
  access->Write({{"id", "next"}});
  EXPECT_TRUE(WaitUntil([&] {
    const std::string text = Read("log");
    return text.find("event=log_dropped") != -1ul;
  }));
  // Whole lines only, from the one on that the FIFO took in part.
  EXPECT_THAT(Read("log").substr(0, 5), "time=");
  close(reader);
}

}  // namespace
}  // namespace attend
