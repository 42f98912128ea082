#include "engine/json/json_parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/json/utf8.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Nested(int depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonParseTest, EveryKindOfValueAsTheLibraryReadsIt) {
  for (const std::string text :
       {R"({"a":[1,-2,3.5,true,false,null,"x",{}],"b":{"c":[[],[[7]],{}]}})",
        R"([{"k":{"k":{"k":1}}},[],{"k":[{"k":2},{"k":3}]}])", "7", "\"s\"",
        "null", "[18446744073709551615,-9223372036854775808,1e30]"}) {
    const auto parsed = ParseJson("a.json", text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, nlohmann::json::parse(text)) << text;
  }
}

TEST(JsonParseTest, MembersKeepTheirOrderWhereAsked) {
  const std::string text = R"({"z":1,"a":{"y":[2],"b":3}})";
  EXPECT_EQ(ParseOrderedJsonObject("a", text)->dump(), text);
  EXPECT_EQ(ParseJsonObject("a", text)->dump(),
            R"({"a":{"b":3,"y":[2]},"z":1})");
}

TEST(JsonParseTest, KeysMayRecurInOtherObjects) {
  EXPECT_TRUE(ParseJson("a", R"([{"a":{"a":1},"b":{"a":2}},{"a":3}])").ok());
}

TEST(JsonParseTest, HostileTextIsAnError) {
  struct Case {
    std::string text;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {"[1", "unexpected end of input"},
           {"{} x", "expected end of input"},
           {R"({"a":1,"b":2,"a":3})", "key \"a\" twice"},
           {R"([{"o":{"a":1,"a":1}}])", "key \"a\" twice"},
           {R"({"\u0061":1,"a":1})", "key \"a\" twice"},
           {"[\"\xff\"]", "ill-formed UTF-8"},
           {"{\"\xed\xa0\x80\":1}", "ill-formed UTF-8"},
           {R"(["\ud800"])", "surrogate"},
           {"[NaN]", "invalid literal"},
           {std::string("{}\0x", 4), "a byte 0"},
           {"[1e999]", "number overflow"},
           {Nested(65), "nested deeper than 64"},
           {std::string(100000, '['), "nested deeper than 64"},
           {"{\"a\":" + Nested(64) + "}", "nested deeper than 64"},
       }) {
    for (const absl::Status& status :
         {ParseJson("a.json", c.text).status(),
          ParseOrderedJsonObject("a.json", c.text).status()}) {
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.text.substr(0, 20);
      EXPECT_THAT(status.message(), AllOf(HasSubstr("a.json: not valid json: "),
                                          HasSubstr(c.error)));
    }
  }
  EXPECT_TRUE(ParseJson("a.json", Nested(64)).ok());
}

TEST(JsonParseTest, AnEmptyTextIsAnError) {
  // Of nlohmann-json before 3.11.3, and since.
  const auto why = AnyOf(HasSubstr("unexpected end of input"),
                         HasSubstr("attempting to parse an empty input"));
  for (const absl::Status& status :
       {ParseJson("a.json", "").status(),
        ParseOrderedJsonObject("a.json", "").status()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("a.json: not valid json: "), why));
  }
}

TEST(JsonParseTest, ErrorsShowLittleOfALongText) {
  const std::string key(10000, 'k');
  for (const std::string& text :
       {"{" + std::string(10000, '\t') + "x}", "[\"" + std::string(10000, 'x'),
        "{\"" + key + "\":1,\"" + key + "\":2}"}) {
    const absl::Status status = ParseJson("a.json", text).status();
    EXPECT_THAT(status.message(), HasSubstr("a.json: not valid json: "));
    EXPECT_LT(status.message().size(), 300);
  }
}

TEST(JsonParseTest, ShortTextsEndWithWholeCharacters) {
  EXPECT_EQ(ShortText("a\xc3\xa9"), "a\xc3\xa9");
  EXPECT_EQ(ShortText(std::string(250, 'a')), std::string(250, 'a'));
  EXPECT_EQ(ShortText(std::string(251, 'a')), std::string(250, 'a') + "...");
  EXPECT_EQ(ShortText(std::string(249, 'a') + "\xe2\x82\xac"),
            std::string(249, 'a') + "...");
}

// The parser stops in the middle of a character.
TEST(JsonParseTest, ErrorsAreUtf8) {
  EXPECT_EQ(ShortText("a\xe2 \xff\xc3\xa9"),
            "a\xef\xbf\xbd \xef\xbf\xbd\xc3\xa9");
  for (const char* text : {"\xe2\x80\x93", "[\xc3\xa9]", "\xff"}) {
    const absl::Status status = ParseJson("a.json", text).status();
    EXPECT_THAT(status.message(), HasSubstr("invalid literal"));
    EXPECT_EQ(FindInvalidUtf8(status.message()), absl::string_view::npos)
        << status;
  }
}

// Of the members of `text`, or the error.
std::string Members(const std::string& text) {
  nlohmann::json all = nlohmann::json::object();
  int count = 0;
  const absl::Status status = ParseMembers(
      "a.json", text, [&](const std::string& key, const nlohmann::json& value) {
        ++count;
        return all.emplace(key, value).second;
      });
  EXPECT_TRUE(!status.ok() || count == static_cast<int>(all.size()));
  return status.ok() ? all.dump() : std::string(status.message());
}

TEST(JsonParseTest, MembersOneByOne) {
  for (const std::string text :
       {"{}", R"({"a":1})",
        R"({"a":{"a":{"a":2}},"b":[{"a":1},{}],"c":null})"}) {
    EXPECT_EQ(Members(text), text);
  }
  EXPECT_THAT(Members(R"({"a":1,"b":2,"a":3})"), HasSubstr("key \"a\" twice"));
  EXPECT_THAT(Members(R"({"b":{"a":1,"a":3}})"), HasSubstr("key \"a\" twice"));
  EXPECT_THAT(Members("{\"a\":" + Nested(64) + "}"),
              HasSubstr("nested deeper"));
  EXPECT_THAT(Members(R"({"a":1)"), HasSubstr("unexpected end of input"));
  EXPECT_THAT(Members(R"([{"a":1}])"),
              HasSubstr(R"(a.json: is [{"a":1}], expected a json object)"));
}

TEST(JsonParseTest, ErrorsSayWhereAndNotByWhat) {
  EXPECT_THAT(
      std::string(ParseJson("a.json", "{\"b\": 1,}").status().message()),
      StartsWith("a.json: not valid json: parse error at line 1, column 9: "
                 "syntax error"));
}

TEST(JsonParseTest, SizeIsBounded) {
  const auto parsed =
      ParseJson("a.json", std::string((size_t{64} << 20) + 1, ' '));
  EXPECT_EQ(parsed.status().message(),
            "a.json: 67108865 bytes of json, limit is 67108864");
}

// What has memory of its own.
TEST(JsonParseTest, WhatClientsSendTakesBoundedMemory) {
  constexpr size_t kMost = size_t{1} << 18;
  for (const std::string each : {"[]", "{}", "\"\""}) {
    std::string text = R"({"a":[1)";
    for (size_t i = 2; i < kMost; ++i) text.append(",").append(each);
    EXPECT_TRUE(ParseOrderedJsonObject("a", text + "]}").ok());
    text.append(",").append(each).append("]}");
    EXPECT_THAT(ParseOrderedJsonObject("a", text).status().message(),
                "a: not valid json: more than 262144 strings, lists and "
                "objects");
    EXPECT_TRUE(ParseJsonObject("a", text).ok());
  }
}

TEST(JsonParseTest, LimitsTheOtherValuesThatClientsSend) {
  std::string numbers = R"({"a":[1)";
  for (size_t i = 1; i < 2097152; ++i) numbers.append(",1");
  EXPECT_TRUE(ParseOrderedJsonObject("a", numbers + "]}").ok());
  numbers.append(",1]}");
  EXPECT_THAT(ParseOrderedJsonObject("a", numbers).status().message(),
              "a: not valid json: more than 2097152 numbers, truth values and "
              "nulls");
  EXPECT_TRUE(ParseJsonObject("a", numbers).ok());
}

TEST(JsonParseTest, AnObjectAtTheTopWhereAsked) {
  for (const std::string text : {"[1]", "7", "null", "\"x\""}) {
    const std::string expected =
        "a.json: is " + text + ", expected a json object";
    EXPECT_EQ(ParseJsonObject("a.json", text).status().message(), expected);
    EXPECT_EQ(ParseOrderedJsonObject("a.json", text).status().message(),
              expected);
  }
}

TEST(JsonParseTest, TextOfErrorsIsShortAscii) {
  EXPECT_EQ(JsonText({{"k", "\xc3\xa9"}}), "{\"k\":\"\\u00e9\"}");
  const std::string text = JsonText(std::string(1000, 'x'));
  EXPECT_EQ(text, "\"" + std::string(79, 'x') + "...");
}

}  // namespace
}  // namespace attend
