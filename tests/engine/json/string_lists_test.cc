#include "engine/json/string_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

JsonFile File(const std::string& value) {
  return *JsonFile::Parse("a.json", absl::StrCat("{\"k\": ", value, "}"));
}

TEST(RepeatedStringsTest, ListsRepeat) {
  EXPECT_THAT(
      *RepeatedStrings(File(R"([[["a", "b"], 2], [["c"], 1]])"), "k", 5),
      ElementsAre("a", "b", "a", "b", "c"));
  EXPECT_THAT(*RepeatedStrings(File(R"([[["a"], 0], [[], 9]])"), "k", 5),
              IsEmpty());
}

TEST(RepeatedStringsTest, AnythingElseIsNamed) {
  for (const char* value :
       {R"([[["a", "b"], 3]])", R"([[["a"], 1000000000000]])",
        R"([[["a"], -1]])", R"([[["a"], 1.5]])", R"([[["a", 1], 1]])",
        R"([[["a"]]])", R"([["a", 1]])", R"(["a"])", R"("a")", "null"}) {
    EXPECT_THAT(
        std::string(RepeatedStrings(File(value), "k", 5).status().message()),
        HasSubstr("a.json: k is "))
        << value;
  }
}

}  // namespace
}  // namespace attend
