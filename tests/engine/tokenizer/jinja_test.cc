// One-line chat templates, over all that Python's Jinja has.

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "tests/support/field_rows.h"

namespace attend {
namespace {

TEST(JinjaTest, AsTransformers) {
  const auto rows = FieldRows("jinja");
  auto variables =
      nlohmann::ordered_json::parse(rows[0]["variables"].get<std::string>());
  variables["messages"] = {{{"role", "user"}, {"content", "Hi"}}};
  variables["add_generation_prompt"] = true;
  variables["tools"] = nullptr;
  variables["documents"] = nullptr;
  const std::string json = variables.dump();
  const absl::Time noon =
      absl::FromCivil(absl::CivilHour(2026, 7, 4, 12), absl::LocalTimeZone());
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto source = rows[i]["template"].get<std::string>();
    const auto text =
        Sandbox::Shared().Run({.source = source,
                               .variables = json,
                               .unix_micros = absl::ToUnixMicros(noon)},
                              [] { return false; });
    ASSERT_TRUE(text.ok() || absl::IsInvalidArgument(text.status()))
        << source << text.status();
    EXPECT_EQ(text.ok(), rows[i]["text"].is_string())
        << source << text.status();
    if (!text.ok() || !rows[i]["text"].is_string()) continue;
    EXPECT_EQ(*text, rows[i]["text"].get<std::string>()) << source;
  }
}

}  // namespace
}  // namespace attend
