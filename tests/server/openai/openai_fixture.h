#ifndef ATTEND_TESTS_SERVER_OPENAI_OPENAI_FIXTURE_H_
#define ATTEND_TESTS_SERVER_OPENAI_OPENAI_FIXTURE_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/openai/openai_api.h"
#include "tests/server/http_call/http_fixture.h"

namespace attend {

// A server of OpenAI's API with one fake model, which continues text.
inline HttpFixtureOptions OpenAiFixture() {
  HttpFixtureOptions options;
  options.engines[0].info.continues_source = true;
  options.apis = OpenAiApis();
  return options;
}

// The body of the answer to a POST, which has the status.
inline nlohmann::json PostJson(const HttpFixture& fixture,
                               absl::string_view path, absl::string_view body,
                               int status = 200) {
  const std::string answer = fixture.Post(path, body);
  EXPECT_TRUE(absl::StartsWith(answer, absl::StrCat("HTTP/1.1 ", status, " ")))
      << answer;
  EXPECT_TRUE(absl::StrContains(answer, "Content-Type: application/json"));
  return nlohmann::json::parse(BodyOf(answer), nullptr,
                               /*allow_exceptions=*/false);
}

// The events of a stream, of which the last one must say that it is.
inline std::vector<nlohmann::json> PostEvents(const HttpFixture& fixture,
                                              absl::string_view path,
                                              absl::string_view body) {
  RawHttp client;
  EXPECT_TRUE(client.Connect(fixture.port()));
  EXPECT_TRUE(client.Send(HttpFixture::PostText(path, body)));
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_TRUE(absl::StartsWith(head, "HTTP/1.1 200 ")) << head;
  EXPECT_TRUE(absl::StrContains(head, "Content-Type: text/event-stream"));
  std::string text;
  if (absl::StrContains(head, "chunked")) {
    for (std::string part; !(part = client.ReadChunk()).empty();) text += part;
  } else {
    text = client.ReadToEnd();
  }
  EXPECT_TRUE(absl::EndsWith(text, "\n\ndata: [DONE]\n\n")) << text;
  std::vector<nlohmann::json> events;
  for (absl::string_view event : absl::StrSplit(text, "\n\n")) {
    if (event.empty() || event == "data: [DONE]") continue;
    EXPECT_TRUE(absl::ConsumePrefix(&event, "data: "));
    events.push_back(nlohmann::json::parse(event));
  }
  return events;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_OPENAI_OPENAI_FIXTURE_H_
