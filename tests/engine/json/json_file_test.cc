#include "engine/json/json_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

JsonFile Parse(const std::string& text) {
  absl::StatusOr<JsonFile> file = JsonFile::Parse("a.json", text);
  EXPECT_TRUE(file.ok()) << file.status();
  return *file;
}

TEST(JsonFileTest, ReadsEveryType) {
  const JsonFile file = Parse(
      R"({"i": -3, "f": 1.5, "b": true, "s": "x", "l": [1, 2], "n": null,
          "ll": [[1], []], "ss": ["a", "b"], "m": {"k": "v"}})");
  EXPECT_EQ(*file.Int("i"), -3);
  EXPECT_EQ(*file.Float("f"), 1.5);
  EXPECT_EQ(*file.Float("i"), -3);
  EXPECT_TRUE(*file.Bool("b"));
  EXPECT_EQ(*file.String("s"), "x");
  EXPECT_THAT(*file.Ints("l"), ElementsAre(1, 2));
  EXPECT_THAT(*file.Ints("i"), ElementsAre(-3));
  EXPECT_THAT(*file.IntLists("ll"), ElementsAre(ElementsAre(1), ElementsAre()));
  EXPECT_THAT(*file.Strings("s"), ElementsAre("x"));
  EXPECT_THAT(*file.Strings("ss"), ElementsAre("a", "b"));
  EXPECT_THAT(*file.StringMap("m"), ElementsAre(testing::Pair("k", "v")));
  EXPECT_FALSE(file.Has("n"));
  EXPECT_EQ(*file.IntOr("n", 7), 7);
  EXPECT_EQ(*file.FloatOr("none", 0.5), 0.5);
  EXPECT_EQ(*file.StringOr("none", "d"), "d");
  EXPECT_TRUE(*file.BoolOr("none", true));
}

TEST(JsonFileTest, ObjectsInside) {
  const JsonFile file = Parse(R"({"o": {"i": 3, "p": {"j": 4}}, "l": [1]})");
  EXPECT_EQ(*file.Object("o")->Int("i"), 3);
  const auto inner = file.Object("o")->Object("p");
  EXPECT_EQ(*inner->Int("j"), 4);
  EXPECT_THAT(inner->Int("k").status().message(),
              HasSubstr("a.json: o: p: k is missing"));
  EXPECT_THAT(file.Object("l").status().message(),
              HasSubstr("l is [1], expected an object"));
  EXPECT_FALSE(file.Object("none").ok());
}

TEST(JsonFileTest, ListsOfObjects) {
  const TestDirectory directory;
  const std::string path = directory.path() + "/a.json";
  directory.Write("a.json", R"([{"i": 1}, {"i": "x"}])");
  const auto list = JsonFile::LoadList(path);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ(*(*list)[0].Int("i"), 1);
  EXPECT_THAT((*list)[1].Int("i").status().message(),
              HasSubstr("a.json: [1]: i is \"x\""));
  for (const char* text : {"[1]", "{}", "[{}, []]", "3"}) {
    directory.Write("a.json", text);
    EXPECT_THAT(JsonFile::LoadList(path).status().message(),
                HasSubstr("expected a list of json objects"))
        << text;
  }
  EXPECT_TRUE(absl::IsNotFound(JsonFile::LoadList("/no/such").status()));
}

TEST(JsonFileTest, ListsOfObjectsInside) {
  const JsonFile file =
      Parse(R"({"l": [{"i": 1}, {"i": "x"}], "m": [{}, 1], "o": {}})");
  const auto list = file.Objects("l");
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ(*(*list)[0].Int("i"), 1);
  EXPECT_THAT((*list)[1].Int("i").status().message(),
              HasSubstr("a.json: l[1]: i is \"x\""));
  for (const char* key : {"m", "o", "none"}) {
    EXPECT_THAT(file.Objects(key).status().message(),
                HasSubstr("expected a list of objects"))
        << key;
  }
}

TEST(JsonFileTest, NoOtherKeys) {
  const JsonFile file = Parse(R"({"a": 1, "b": {}})");
  EXPECT_TRUE(file.ExpectOnly({"a", "b", "c"}).ok());
  EXPECT_THAT(file.ExpectOnly({"a", "c"}).message(),
              HasSubstr("a.json: unknown key 'b'"));
  EXPECT_THAT(Parse(R"({"a": null})").ExpectOnly({"a"}).message(),
              HasSubstr("a.json: null for key 'a'"));
}

TEST(JsonFileTest, ErrorsNameFileKeyFoundAndExpected) {
  const JsonFile file = Parse(
      R"({"i": 9, "s": "x", "big": 18446744073709551615, "ll": [[1, "a"]]})");
  EXPECT_THAT(
      file.Int("i", {0, 5}).status().message(),
      AllOf(HasSubstr("a.json"), HasSubstr("i is 9"), HasSubstr("[0, 5]")));
  EXPECT_THAT(file.Int("s").status().message(), HasSubstr("s is \"x\""));
  EXPECT_THAT(file.Int("none").status().message(), HasSubstr("is missing"));
  EXPECT_FALSE(file.Int("big", {0, INT64_MAX}).ok());
  EXPECT_FALSE(file.IntOr("s", 1).ok());
  EXPECT_FALSE(file.Float("s").ok());
  EXPECT_FALSE(file.Bool("i").ok());
  EXPECT_FALSE(file.String("i").ok());
  EXPECT_FALSE(file.Strings("ll").ok());
  EXPECT_FALSE(file.StringMap("ll").ok());
  EXPECT_FALSE(file.Ints("ll").ok());
  EXPECT_FALSE(file.IntLists("i").ok());
  EXPECT_THAT(file.IntLists("ll").status().message(), HasSubstr("[[1,\"a\"]]"));
}

TEST(JsonFileTest, ValuesOfManyKinds) {
  const JsonFile file = Parse(R"({"l": ["x", {"i": "y"}], "n": null})");
  EXPECT_EQ(file.Find("n"), nullptr);
  EXPECT_EQ(file.Find("none"), nullptr);
  const nlohmann::json* list = file.Find("l");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ((*list)[0], "x");
  const auto inside = file.ObjectAt("l", (*list)[1]);
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_THAT(inside->Int("i").status().message(),
              HasSubstr("a.json: l: i is \"y\""));
  EXPECT_THAT(file.ObjectAt("l", (*list)[0]).status().message(),
              HasSubstr("a.json: l is [\"x\","));
}

TEST(JsonFileTest, NeutralValuesPass) {
  const JsonFile file = Parse(
      R"({"f": false, "n": null, "one": 1, "l": [], "t": true, "two": 2})");
  for (const char* key : {"f", "n", "one", "l", "absent"}) {
    EXPECT_TRUE(file.ExpectNeutral(key, 1).ok()) << key;
  }
  EXPECT_FALSE(file.ExpectNeutral("t", 1).ok());
  EXPECT_THAT(file.ExpectNeutral("two", 1).message(),
              HasSubstr("two is 2, which is not supported"));
}

TEST(JsonFileTest, HostileTextIsAnError) {
  struct Case {
    std::string text;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {"", "not valid json"},
           {"{\"a\": 1", "not valid json"},
           {"[1]", "expected a json object"},
           {"{\"a\": 1, \"a\": 2}", "key \"a\" twice"},
           {"{\"a\": \"\xff\"}", "not valid json"},
           {"{\"a\":" + std::string(100000, '['), "nested deeper"},
           {"{\"a\": NaN}", "not valid json"},
           {"{\"a\": 1e999}", "not valid json"},
       }) {
    const auto file = JsonFile::Parse("a.json", c.text);
    EXPECT_TRUE(absl::IsInvalidArgument(file.status())) << c.text.substr(0, 20);
    EXPECT_THAT(file.status().message(),
                AllOf(HasSubstr("a.json"), HasSubstr(c.error)));
  }
}

TEST(JsonFileTest, MissingFileAndDirectory) {
  const TestDirectory directory;
  const auto missing = JsonFile::Load(directory.path() + "/config.json");
  EXPECT_TRUE(absl::IsNotFound(missing.status())) << missing.status();
  EXPECT_THAT(missing.status().message(), HasSubstr("config.json"));
  EXPECT_TRUE(
      absl::IsInvalidArgument(JsonFile::Load(directory.path()).status()));
  const auto empty = JsonFile::LoadOrEmpty(directory.path() + "/config.json");
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_FALSE(empty->Has("a"));
  EXPECT_TRUE(absl::IsInvalidArgument(
      JsonFile::LoadOrEmpty(directory.path()).status()));
}

}  // namespace
}  // namespace attend
