#include "server/http_call/openapi.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/server/http_call/say_api.h"

namespace attend {
namespace {

using nlohmann::json;

TEST(OpenApiTest, HasEveryRouteAndEveryField) {
  HttpApi api = SayApi();
  api.methods[0].summary = "Says what follows.";
  api.methods[0].streams = true;
  api.methods[0].fields = [] {
    return std::vector<FieldHelp>{
        {"text", R"({"type": "string"})", "The text."},
        {"words", R"({"type": "integer", "minimum": 1})", "How many."}};
  };
  const json document = json::parse(OpenApiText(
      "1.2", {api}, {{"/livez", "Whether it lives.", "text/plain"}}));
  EXPECT_EQ(document["openapi"], "3.1.0");
  EXPECT_EQ(document["info"]["version"], "1.2");
  EXPECT_EQ(document["paths"].size(), 3u);
  const json& say = document["paths"]["/say"]["post"];
  EXPECT_EQ(say["summary"], "Says what follows.");
  EXPECT_EQ(say["requestBody"]["content"]["application/json"]["schema"],
            json::parse(R"({"type": "object", "additionalProperties": false,
              "properties": {
                "text": {"type": "string", "description": "The text."},
                "words": {"type": "integer", "minimum": 1,
                          "description": "How many."}}})"));
  EXPECT_TRUE(say["responses"]["200"]["content"].contains("text/event-stream"));
  const json& model = document["paths"]["/say/{rest}"]["post"];
  EXPECT_EQ(model["parameters"][0]["in"], "path");
  EXPECT_NE(model["operationId"], say["operationId"]);
  EXPECT_EQ(document["paths"]["/livez"]["get"]["summary"], "Whether it lives.");
}

}  // namespace
}  // namespace attend
