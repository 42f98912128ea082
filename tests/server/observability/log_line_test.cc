#include "server/observability/log_line.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace attend {
namespace {

using ::testing::HasSubstr;

const absl::Time kTime = absl::FromUnixMillis(1'700'000'000'123);

TEST(LogLineTest, WritesOneLineOfLogfmt) {
  EXPECT_EQ(FormatLogLine(LogFormat::kLogfmt, kTime, LogLevel::kInfo, "call",
                          {{"code", "OK"},
                           {"inputs", 3},
                           {"seconds", absl::Milliseconds(1500)}}),
            "time=2023-11-14T22:13:20.123000Z level=info event=call code=OK "
            "inputs=3 seconds=1.5\n");
}

TEST(LogLineTest, AFieldWithoutANameIsLeftOut) {
  for (const LogFormat format : {LogFormat::kLogfmt, LogFormat::kJson}) {
    EXPECT_EQ(FormatLogLine(format, kTime, LogLevel::kInfo, "call",
                            {{"a", 1}, {"", "x"}, {"b", 2}}),
              FormatLogLine(format, kTime, LogLevel::kInfo, "call",
                            {{"a", 1}, {"b", 2}}));
  }
}

TEST(LogLineTest, NoValueForgesALineOrAField) {
  const std::string line =
      FormatLogLine(LogFormat::kLogfmt, kTime, LogLevel::kError, "failed",
                    {{"error", "a\nlevel=info \"b\" \x1b[0m \xe2\x80\xa8\xff"},
                     {"empty", ""}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(line, HasSubstr("error=\"a\\nlevel=info \\\"b\\\" \\x1b[0m "
                              "\\xe2\\x80\\xa8\\xff\" empty=\"\"\n"));
}

TEST(LogLineTest, LevelsHaveNames) {
  for (LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning,
                         LogLevel::kError}) {
    EXPECT_EQ(ParseLogLevel(LogLevelName(level)).value(), level);
  }
  EXPECT_THAT(ParseLogLevel("loud").status().message(),
              HasSubstr("log level is 'loud'"));
}

TEST(LogLineTest, ACommandInAnErrorCanBePasted) {
  EXPECT_THAT(FormatLogLine(LogFormat::kLogfmt, kTime, LogLevel::kError,
                            "failed", {{"error", R"(sh -c 'a' \'b)"}}),
              HasSubstr(R"(error="sh -c 'a' \\'b")"));
}

TEST(LogLineTest, JsonIsOneObjectALine) {
  EXPECT_EQ(
      FormatLogLine(LogFormat::kJson, kTime, LogLevel::kInfo, "call",
                    {{"code", "OK"},
                     {"model", "7"},
                     {"inputs", 3},
                     {"seconds", absl::Milliseconds(1500)},
                     {"timeout", absl::InfiniteDuration()}}),
      R"({"time":"2023-11-14T22:13:20.123000Z","level":"info","event":"call",)"
      R"("code":"OK","model":"7","inputs":3,"seconds":1.5,"timeout":"inf"})"
      "\n");
}

TEST(LogLineTest, JsonTakesAnyBytes) {
  const std::string value = "a\nb \"c\" \x1b \xe2\x80\xa8 \xff";
  const std::string line = FormatLogLine(LogFormat::kJson, kTime,
                                         LogLevel::kInfo, "x", {{"v", value}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(nlohmann::json::parse(line).at("v"),
            "a\nb \"c\" \x1b \xe2\x80\xa8 \xef\xbf\xbd");
}

TEST(LogLineTest, FormatsHaveNames) {
  for (const LogFormat format : {LogFormat::kLogfmt, LogFormat::kJson}) {
    EXPECT_EQ(ParseLogFormat(LogFormatName(format)).value(), format);
  }
  EXPECT_THAT(ParseLogFormat("xml").status().message(),
              HasSubstr("log format is 'xml', must be logfmt or json"));
}

}  // namespace
}  // namespace attend
