#include "server/observability/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A pipe of which both ends are closed at the end.
struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    for (int end : ends) close(end);
  }
  std::string ReadAll() {
    close(std::exchange(ends[1], -1));
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, n);
    }
    return text;
  }
  int ends[2];
};

TEST(LogTest, LinesBelowTheLevelAreLeftOut) {
  Pipe pipe;
  {
    Log log({.min_level = LogLevel::kWarning}, pipe.ends[1]);
    log.Write(LogLevel::kInfo, "quiet", {});
    log.Write(LogLevel::kError, "loud", {});
  }
  const std::string text = pipe.ReadAll();
  EXPECT_THAT(text, HasSubstr("event=loud"));
  EXPECT_THAT(text, Not(HasSubstr("event=quiet")));
}

TEST(LogTest, AFullPipeBlocksNobodyAndLossIsReported) {
  Pipe pipe;
  fcntl(pipe.ends[1], F_SETPIPE_SZ, 4096);
  std::string text;
  std::thread reader;
  {
    Log log({.min_level = LogLevel::kInfo}, pipe.ends[1]);
    // More than pipe, writer and queue can hold: returning is the test.
    for (size_t i = 0; i < 3 * Log::kMaxQueuedLines; ++i) {
      log.Write(LogLevel::kInfo, "flood", {{"text", std::string(100, 'x')}});
    }
    EXPECT_GT(log.dropped(), 0);
    // To the end: what is still queued is written before the log goes.
    reader = std::thread([&] {
      char buffer[4096];
      for (ssize_t n; (n = read(pipe.ends[0], buffer, sizeof(buffer))) > 0;) {
        text.append(buffer, n);
      }
    });
  }
  close(std::exchange(pipe.ends[1], -1));
  reader.join();
  EXPECT_THAT(text, HasSubstr("event=log_dropped lines="));
}

TEST(LogTest, AfterAFlushTheLinesHaveLeft) {
  Pipe pipe;
  Log log({}, pipe.ends[1]);
  for (int i = 0; i < 100; ++i) log.Write(LogLevel::kInfo, "line", {{"i", i}});
  log.Flush(absl::Minutes(1));
  std::string text(1 << 16, '\0');
  text.resize(read(pipe.ends[0], text.data(), text.size()));
  EXPECT_THAT(text, HasSubstr("i=99\n"));
}

TEST(LogTest, AFlushIntoAFullPipeEnds) {
  Pipe pipe;
  fcntl(pipe.ends[1], F_SETPIPE_SZ, 4096);
  Log log({}, pipe.ends[1]);
  log.Write(LogLevel::kInfo, "long", {{"text", std::string(10'000, 'x')}});
  log.Flush(absl::Milliseconds(1));
}

// Nobody reads: the last words are lost, and the end comes all the same.
TEST(LogTest, AFullPipeDoesNotHoldTheEnd) {
  Pipe pipe;
  fcntl(pipe.ends[1], F_SETPIPE_SZ, 4096);
  const absl::Time begin = absl::Now();
  {
    Log log({.min_level = LogLevel::kInfo}, pipe.ends[1]);
    for (int i = 0; i < 10; ++i) {
      log.Write(LogLevel::kInfo, "long", {{"text", std::string(3000, 'x')}});
    }
  }
  EXPECT_LT(absl::Now() - begin, Log::kLastWords + absl::Seconds(5));
  // What was taken is whole lines, but for the last one.
  EXPECT_THAT(pipe.ReadAll(), HasSubstr("event=long text=xxx"));
}

TEST(LogTest, AFullDiskLosesLinesAndHoldsNobody) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  {
    Log log({.min_level = LogLevel::kInfo}, full);
    for (size_t i = 0; i < 2 * Log::kMaxQueuedLines; ++i) {
      log.Write(LogLevel::kInfo, "lost", {});
    }
    EXPECT_TRUE(WaitUntil([&] { return log.dropped() > 0; }));
  }  // returning is the test
  close(full);
}

}  // namespace
}  // namespace attend
