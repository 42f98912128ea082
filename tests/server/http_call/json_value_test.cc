#include "server/http_call/json_value.h"

#include <gmock/gmock.h>

#include <string>

#include "server/http_call/http_status.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

JsonValue Value(const Json& json) { return {json, "f"}; }

// What is wrong with a value; empty: nothing.
template <class Result>
std::string Problem(const Result& result) {
  EXPECT_EQ(FieldOf(result.status()), result.ok() ? "" : "f");
  return std::string(result.status().message());
}

TEST(JsonValueTest, NumbersHaveRanges) {
  EXPECT_EQ(*Value(Json(7)).Int(), 7);
  EXPECT_EQ(*Value(Json(7.0)).Int(), 7);
  EXPECT_EQ(*Value(Json(-7)).Int(-10, 0), -7);
  EXPECT_EQ(*Value(Json(9223372036854775807)).Int(0, INT64_MAX), INT64_MAX);
  EXPECT_EQ(*Value(Json(0.5)).Float(0, 2), 0.5);
  EXPECT_EQ(*Value(Json(2)).Float(0, 2), 2);
  for (const char* wrong : {"8", "-1", "2.5", "1e300", "18446744073709551615",
                            "\"7\"", "true", "null", "[7]", "{}"}) {
    const Json json = Json::parse(wrong);
    EXPECT_THAT(Problem(Value(json).Int(0, 7)),
                HasSubstr("must be an integer in [0, 7]"))
        << wrong;
    EXPECT_THAT(Problem(Value(json).Float(0, 2.25)),
                HasSubstr("must be a number in [0, 2.25]"))
        << wrong;
  }
  EXPECT_EQ(Problem(Value(Json(8)).Int(0, 7)),
            "f is 8, must be an integer in [0, 7]");
}

TEST(JsonValueTest, OtherKinds) {
  EXPECT_EQ(*Value(Json(true)).Bool(), true);
  EXPECT_EQ(Problem(Value(Json(1)).Bool()), "f is 1, must be true or false");
  EXPECT_EQ(*Value(Json("x")).String(), "x");
  EXPECT_EQ(Problem(Value(Json::array()).String()),
            "f is a list, must be a string");
  EXPECT_THAT(*Value(Json("x")).Strings(), ElementsAre("x"));
  const Json list = {"x", "y"};
  EXPECT_THAT(*Value(list).Strings(), ElementsAre("x", "y"));
  EXPECT_EQ((*Value(list).List())[1].name(), "f[1]");
  const Json mixed = {"x", 1};
  EXPECT_EQ(Value(mixed).Strings().status().message(),
            "f[1] is 1, must be a string");
  const Json object = {{"b", 1}, {"a", nullptr}, {"c", 2}};
  const auto members = *Value(object).Members();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[1].name(), "f.c");
  EXPECT_EQ(JsonValue(object, "").Members()->front().name(), "b");
}

TEST(JsonValueTest, Ids) {
  google::protobuf::RepeatedField<int> ids;
  EXPECT_TRUE(Value(Json::parse("[0, 7.0, -1, 2147483647]")).ReadIds(ids).ok());
  EXPECT_THAT(ids, ElementsAre(0, 7, -1, 2147483647));
  EXPECT_EQ(Value(Json(7)).ReadIds(ids).message(), "f is 7, must be a list");
  for (const char* wrong :
       {"2147483648", "18446744073709551615", "0.5", "\"7\"", "null", "[]"}) {
    const Json json = Json::array({1, Json::parse(wrong)});
    EXPECT_THAT(std::string(Value(json).ReadIds(ids).message()),
                AllOf(StartsWith("f[1] is "),
                      HasSubstr("must be an integer in [-2147483648, ")))
        << wrong;
  }
}

TEST(JsonValueTest, ListsAreBounded) {
  Json list = std::vector<int>(1 << 18);
  EXPECT_TRUE(Value(list).List().ok());
  list.push_back(0);
  EXPECT_EQ(Problem(Value(list).List()),
            "f is a list, must be a list of at most 262144 entries");
  google::protobuf::RepeatedField<int> ids;
  EXPECT_TRUE(Value(list).ReadIds(ids).ok());
}

TEST(JsonValueTest, ErrorsShowLittle) {
  const Json text = std::string(1000, 'x');
  EXPECT_LT(Value(text).Bool().status().message().size(), 150u);
  const Json bytes = std::string("\xc3");
  EXPECT_EQ(Problem(Value(bytes).Bool()),
            "f is \"\\ufffd\", must be true or false");
}

}  // namespace
}  // namespace attend
