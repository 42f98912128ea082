// OpenAI's API of the real server, beside gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

std::string PostText(const json& body, absl::string_view headers = "") {
  const std::string text = body.dump();
  return absl::StrCat(
      HttpRequestText("POST", "/v1/completions",
                      absl::StrCat("Content-Type: application/json\r\n"
                                   "Content-Length: ",
                                   text.size(), "\r\n", headers)),
      text);
}

// The texts of the choices in the events of a stream.
std::vector<std::string> StreamedTexts(RawHttp& client, int choices) {
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
  std::string events;
  if (absl::StrContains(head, "chunked")) {
    for (std::string part; !(part = client.ReadChunk()).empty();) {
      events += part;
    }
  } else {
    events = client.ReadUntil("[DONE]\n\n");
  }
  std::vector<std::string> texts(choices);
  for (absl::string_view event : absl::StrSplit(events, "\n\n")) {
    if (!absl::ConsumePrefix(&event, "data: ") || event == "[DONE]") continue;
    const json parsed = json::parse(event);
    for (const json& choice : parsed.at("choices")) {
      texts.at(choice["index"]) += choice["text"];
    }
  }
  return texts;
}

TEST(OpenAiTest, AStreamHasTheTextOfGrpcToTheByte) {
  ServerProcess& server = SharedServer();
  Client client(server.client_options());
  std::vector<std::string> sources;
  for (int i = 0; i < 40; ++i) sources.push_back(Sentence(i));
  const auto expected = Collect(client, Greedy(sources));
  ASSERT_TRUE(expected.ok()) << expected.status();
  RawHttp http;
  ASSERT_TRUE(http.Connect(std::stoi(server.http_port())));
  ASSERT_TRUE(http.Send(
      PostText({{"prompt", sources}, {"temperature", 0}, {"stream", true}})));
  const std::vector<std::string> texts = StreamedTexts(http, 40);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(texts[i], expected->results(i).choices(0).text());
    EXPECT_FALSE(texts[i].empty());
  }
}

TEST(OpenAiTest, AClientThatGoesLeavesNothingBehind) {
  ServerProcess server;
  {
    RawHttp http;
    ASSERT_TRUE(http.Connect(std::stoi(server.http_port())));
    ASSERT_TRUE(http.Send(PostText({{"prompt", Sentence(1)},
                                    {"min_tokens", 400},
                                    {"max_tokens", 400},
                                    {"stream", true}})));
    EXPECT_THAT(http.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  }
  // The head comes before the engine has the request, so that the server may be
  // idle before the call is counted.
  EXPECT_TRUE(Eventually([&] {
    Series all = server.Metrics();
    return all["attend_requests_total{code=\"CANCELLED\",method="
               "\"/v1/completions\",model=\"en-de\"}"] == 1 &&
           server.IsIdle();
  }));
  EXPECT_LT(server.Metric("attend_generated_tokens_total{model=\"en-de\"}"),
            400);
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

}  // namespace
}  // namespace attend
