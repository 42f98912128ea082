#include "server/documents/find_language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/documents/text_breaks.h"
#include "tests/support/field_rows.h"

namespace attend {
namespace {

using nlohmann::json;
using Languages = std::vector<std::string>;

std::map<std::string, Languages> Lists() {
  std::map<std::string, Languages> lists;
  for (const json& row : FieldRows("language_lists")) {
    lists[row["case"]] = row["languages"].get<Languages>();
  }
  return lists;
}

TEST(FindLanguageTest, CodesMeanLanguagesOfAModel) {
  for (const json& row : FieldRows("languages")) {
    EXPECT_EQ(FindLanguage(row["code"].get<std::string>(),
                           row["of"].get<Languages>()),
              row["found"].get<std::string>())
        << row["case"];
  }
}

TEST(FindLanguageTest, AllOfIso639MeanLanguagesOfMultilingualModels) {
  const std::map<std::string, Languages> lists = Lists();
  for (const json& row : FieldRows("iso_639_1")) {
    for (const auto& [model, languages] : lists) {
      EXPECT_EQ(FindLanguage(row["case"].get<std::string>(), languages),
                row[model].get<std::string>())
          << row["language"] << " of " << model;
    }
  }
}

// Each list in reverse: what is found does not depend on the order.
TEST(FindLanguageTest, TheOrderOfAModelChangesNothing) {
  const std::map<std::string, Languages> lists = Lists();
  for (auto [model, languages] : lists) {
    std::reverse(languages.begin(), languages.end());
    for (const json& row : FieldRows("iso_639_1")) {
      const std::string code = row["case"];
      EXPECT_EQ(FindLanguage(code, languages),
                FindLanguage(code, lists.at(model)))
          << code << " of " << model;
    }
  }
}

// A client is told the short code, and may send it.
TEST(FindLanguageTest, TheShortCodeOfALanguageIsTheFirstOneOfThatCode) {
  for (const auto& [model, languages] : Lists()) {
    std::map<std::string, std::string> first;
    for (const std::string& language : languages) {
      first.emplace(BaseLanguage(language),
                    FindLanguage(BaseLanguage(language), languages));
    }
    for (const auto& [code, language] : first) {
      EXPECT_EQ(BaseLanguage(language), code) << model;
    }
  }
}

TEST(FindLanguageTest, LongOnesAreNone) {
  EXPECT_EQ(FindLanguage(std::string(1 << 20, 'a'), {"de"}), "");
  EXPECT_EQ(FindLanguage("en" + std::string(1 << 20, '-'), {"en"}), "");
}

TEST(FindLanguageTest, LanguagesAreTheSame) {
  EXPECT_TRUE(SameLanguage("en", "eng_Latn"));
  EXPECT_TRUE(SameLanguage("en", "en-GB"));
  EXPECT_TRUE(SameLanguage("zh-TW", "zho_Hant"));
  EXPECT_TRUE(SameLanguage("iw", "he"));
  EXPECT_TRUE(SameLanguage("x y", "x y"));
  EXPECT_FALSE(SameLanguage("en-US", "en-GB"));
  EXPECT_FALSE(SameLanguage("zh", "zh-Hant"));
  EXPECT_FALSE(SameLanguage("sr", "sr-Latn"));
  EXPECT_FALSE(SameLanguage("en", "de"));
  EXPECT_FALSE(SameLanguage("", "de"));
}

}  // namespace
}  // namespace attend
