#include "server/openai/openai_api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "server/http_call/openapi.h"

namespace attend {
namespace {

using nlohmann::json;

TEST(OpenAiApiTest, IsDescribedByItsOwnReaders) {
  const json document = json::parse(OpenApiText("test", OpenAiApis(), {}));
  for (const HttpApi& api : OpenAiApis()) {
    for (const HttpMethod& method : api.methods) {
      if (method.fields == nullptr) continue;
      const json& schema =
          document["paths"][std::string(method.path)]["post"]["requestBody"]
                  ["content"]["application/json"]["schema"];
      std::set<std::string> names;
      for (const FieldHelp& field : method.fields()) {
        EXPECT_TRUE(names.insert(std::string(field.name)).second)
            << method.path << " has " << field.name << " twice";
        EXPECT_EQ(schema["properties"][std::string(field.name)]["description"],
                  std::string(field.help));
        EXPECT_FALSE(field.help.empty());
      }
    }
  }
  EXPECT_TRUE(document["paths"]["/v1/chat/completions"]["post"]["requestBody"]
                      ["content"]["application/json"]["schema"]["properties"]
                          .contains("temperature"));
}

}  // namespace
}  // namespace attend
