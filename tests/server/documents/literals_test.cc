#include "server/documents/literals.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/field_rows.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::vector<std::string> Find(const std::string& text) {
  std::vector<std::string> found;
  for (const Literal& literal : FindLiterals(text)) {
    found.push_back(
        absl::StrCat(literal.readable ? "~" : "",
                     text.substr(literal.range.begin, literal.range.size())));
  }
  return found;
}

// Each literal next to each character, at both of its ends.
TEST(LiteralsTest, EveryLiteralIsFoundAtEveryNeighbour) {
  const std::vector<json> rows = FieldRows("literals");
  for (const json& row : rows) {
    if (!row.contains("literal")) continue;
    const std::string literal = row["literal"];
    const std::string found = (row["readable"] ? "~" : "") + literal;
    EXPECT_THAT(Find(literal), ElementsAre(found));
    for (const json& other : rows) {
      if (!other.contains("neighbour")) continue;
      const std::string neighbour = other["neighbour"];
      EXPECT_THAT(Find(neighbour + literal + neighbour), ElementsAre(found))
          << other["case"];
      // ASCII may continue an address.
      const char* const word = neighbour[0] < 0 ? "Wort" : " ";
      EXPECT_THAT(Find(word + neighbour + literal + neighbour + word),
                  ElementsAre(found))
          << other["case"];
    }
  }
}

TEST(LiteralsTest, TextsWithSeveralLiterals) {
  for (const json& row : FieldRows("literals")) {
    if (!row.contains("text")) continue;
    EXPECT_EQ(Find(row["text"]), row["found"].get<std::vector<std::string>>())
        << row["case"];
  }
}

TEST(LiteralsTest, LongRunsOfTheirBeginningsTakeNoTime) {
  std::string text;
  for (const char* part :
       {"{",   "%",          "a@",         "https://",  "1.",
        "$",   "{{",         "<a ",        "<",         "${",
        "$t(", "{a,plural,", "%(",         "%{",        "www.",
        ":a",  "data:a/b,",  "data:a/b, ", "<a b='c' ", ":a:",
        "@:a", "1 000 ",     "1\u00a0",    "\u00e9@",   "\u7684"}) {
    std::string run;
    while (run.size() < 50000) run += part;
    Find(run);
    text += run;
  }
  Find(text);
  Find("http://a" + std::string(1000000, ')'));
}

}  // namespace
}  // namespace attend
