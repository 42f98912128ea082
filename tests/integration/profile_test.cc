// A profile of a real server: what Perfetto would show of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "client/cpp/lib/client.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using Json = nlohmann::json;

// The events of a trace by thread, in the order of their begins; an outer one
// before the inner ones that begin with it.
std::map<int, std::vector<Json>> EventsByThread(const Json& trace) {
  std::map<int, std::vector<Json>> threads;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") threads[event["tid"]].push_back(event);
  }
  for (auto& [thread, events] : threads) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Json& a, const Json& b) {
                       const double x = a["ts"], y = b["ts"];
                       return x != y ? x < y : a["dur"] > b["dur"];
                     });
  }
  return threads;
}

// The events of a thread lie inside of each other, or apart.
void ExpectNested(const std::vector<Json>& events) {
  constexpr double kRounding = 0.0011;  // microseconds with three digits
  std::vector<double> ends;
  for (const Json& event : events) {
    const double begin = event["ts"], end = begin + double{event["dur"]};
    while (!ends.empty() && ends.back() <= begin + kRounding) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back() + kRounding) << event;
    }
    ends.push_back(end);
  }
}

TEST(ProfileTest, HasStepsOpsAndThreads) {
  const std::string path =
      ::testing::TempDir() + "attend_profile_" + std::to_string(getpid());
  ServerProcess server(
      {"--threads=2", "--profile=60s", "--profile-file=" + path});
  Client client(server.client_options());
  ASSERT_TRUE(client.Generate(Greedy({"Hello.", "A dog."})).ok());
  // The end of the server ends the profile.
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
  EXPECT_THAT(
      server.process().output(),
      HasSubstr("event=profile_written file=" + path + " dropped_events=0"));
  std::ifstream file(path);
  const Json trace = Json::parse(file);
  std::remove(path.c_str());

  std::map<int, std::string> names;  // of threads
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") {
      names[event["tid"]] = event["args"]["name"];
    }
  }
  std::map<std::string, std::set<std::string>> done;  // by thread
  for (const auto& [thread, events] : EventsByThread(trace)) {
    ExpectNested(events);
    for (const Json& event : events) {
      done[names[thread]].insert(event["name"]);
      if (event["name"] == "step") {
        EXPECT_GE(event["args"]["rows"], 1);
      }
    }
  }
  EXPECT_THAT(
      done["worker"],
      IsSupersetOf({"step", "encode", "encoder_stage", "decode",
                    "decoder_layer", "keys_values", "self_attention",
                    "cross_attention", "feed_forward", "matmul", "attention",
                    "write_kv", "logits", "choose_tokens"}));
  EXPECT_THAT(done["member 1"], IsSupersetOf({"matmul", "logits"}));
}

// A profile that a call records, on a thread of its own. While there is another
// profile it asks again.
class ProfileCall {
 public:
  ProfileCall(Client& client, absl::Duration time)
      : thread_([this, &client, time] {
          do {
            status_ = client.Profile(
                time,
                [this](absl::string_view piece) {
                  trace_.append(piece.data(), piece.size());
                  return true;
                },
                &cancellation_);
          } while (absl::IsFailedPrecondition(status_));
        }) {}
  ~ProfileCall() {
    if (thread_.joinable()) Cancel().IgnoreError();
  }

  absl::Status Await() {
    thread_.join();
    return status_;
  }
  absl::Status Cancel() {
    cancellation_.Cancel();
    return Await();
  }
  // After Await().
  const std::string& trace() const { return trace_; }

 private:
  Cancellation cancellation_;
  std::string trace_;
  absl::Status status_;
  std::thread thread_;
};

// A short one, asked for once.
absl::Status ShortProfile(Client& client) {
  return client.Profile(absl::Milliseconds(1),
                        [](absl::string_view) { return true; });
}

// Waits until a profile of a minute is recorded.
bool AwaitLongProfile(Client& client) {
  return Eventually([&] {
    const absl::Status status = ShortProfile(client);
    return absl::IsFailedPrecondition(status) &&
           absl::StrContains(status.message(),
                             "a profile of 1m is recorded already (call ");
  });
}

TEST(ProfileTest, ACallRecordsUntilTheServerDrains) {
  ServerProcess server({"--threads=2"});
  Client client(server.client_options());
  EXPECT_EQ(ProfileCall(client, absl::Seconds(61)).Await().code(),
            absl::StatusCode::kInvalidArgument);
  ProfileCall call(client, absl::Seconds(60));
  EXPECT_TRUE(AwaitLongProfile(client));
  ASSERT_TRUE(client.Generate(Greedy({"Hello."})).ok());
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
  EXPECT_TRUE(call.Await().ok());
  std::set<std::string> done;
  for (const auto& [thread, events] :
       EventsByThread(Json::parse(call.trace()))) {
    for (const Json& event : events) done.insert(event["name"]);
  }
  EXPECT_THAT(done, IsSupersetOf({"step", "encode", "matmul"}));
}

TEST(ProfileTest, ACallThatIsCancelledMakesRoomForAnother) {
  ServerProcess server;
  Client client(server.client_options());
  ProfileCall call(client, absl::Seconds(60));
  EXPECT_TRUE(AwaitLongProfile(client));
  EXPECT_EQ(call.Cancel().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Eventually([&] { return ShortProfile(client).ok(); }));
  EXPECT_EQ(server.Stop(), 0);
}

TEST(ProfileTest, AFileThatCannotBeWrittenIsLoggedAndHoldsNobody) {
  ServerProcess server({"--profile=1ms", "--profile-file=/none/trace.json"});
  EXPECT_TRUE(server.process().WaitForOutput("event=profile_failed"));
  EXPECT_THAT(server.process().output(), HasSubstr("/none/trace.json"));
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace attend
