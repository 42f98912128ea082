#include "server/profile/trace_events.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "engine/tensor/thread_name.h"

namespace attend {
namespace {

using Json = nlohmann::json;

TEST(TraceEventsTest, HasThreadsAndOps) {
  NameThread("odd \"\xff name");
  ProfileBuffer buffer;
  buffer.Start(ProfileBuffer::kChunk);
  buffer.OnOp({.name = "op",
               .begin = 1'000'002'003,
               .end = 1'000'012'013,
               .rows = 3,
               .layer = 0});
  buffer.OnOp({.name = "early",
               .begin = 999'000'000,  // before the profile
               .end = 1'000'001'000,
               .sequences = 2});
  buffer.Stop();
  const Json trace = Json::parse(TraceEvents(
      buffer,
      {.begin = 1'000'000'000, .end = 2'500'000'000, .version = "a\"b"}));
  EXPECT_EQ(trace["otherData"]["version"], "a\"b");
  EXPECT_EQ(trace["otherData"]["duration_us"], 1'500'000);
  EXPECT_EQ(trace["otherData"]["dropped_events"], 0);
  const Json& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 4u);
  for (const Json& event : events) EXPECT_EQ(event["pid"], getpid());
  EXPECT_EQ(events[0]["ph"], "X");
  EXPECT_EQ(events[0]["name"], "op");
  EXPECT_EQ(events[0]["tid"], gettid());
  EXPECT_DOUBLE_EQ(events[0]["ts"], 2.003);
  EXPECT_DOUBLE_EQ(events[0]["dur"], 10.010);
  EXPECT_EQ(events[0]["args"], Json({{"rows", 3}, {"layer", 0}}));
  EXPECT_EQ(events[1]["ts"], 0);
  EXPECT_EQ(events[1]["dur"], 1);
  EXPECT_EQ(events[1]["args"], Json({{"sequences", 2}}));
  EXPECT_EQ(events[2]["name"], "process_name");
  EXPECT_EQ(events[3]["args"]["name"], "odd \"\uFFFD name");
}

TEST(TraceEventsTest, OfNothingIsJsonToo) {
  ProfileBuffer buffer;
  buffer.Start(0);
  buffer.OnOp({.name = "op"});
  buffer.Stop();
  const Json trace = Json::parse(TraceEvents(buffer, {}));
  EXPECT_EQ(trace["traceEvents"].size(), 1u);  // the process
  EXPECT_EQ(trace["otherData"]["dropped_events"], 1);
}

}  // namespace
}  // namespace attend
