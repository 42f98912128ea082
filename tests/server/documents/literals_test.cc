#include "server/documents/literals.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Find(const std::string& text) {
  std::vector<std::string> found;
  for (const Literal& literal : FindLiterals(text)) {
    found.push_back(
        absl::StrCat(literal.readable ? "~" : "",
                     text.substr(literal.range.begin, literal.range.size())));
  }
  return found;
}

TEST(LiteralsTest, Addresses) {
  EXPECT_THAT(
      Find("See https://a.org/b?c=d&e#f, (http://x.y/(z)) or www.q.de."),
      ElementsAre("https://a.org/b?c=d&e#f", "http://x.y/(z)", "www.q.de"));
  EXPECT_THAT(Find("Mail a.b+c@mail.example.org."),
              ElementsAre("a.b+c@mail.example.org"));
  EXPECT_THAT(Find("not a@b, @name, https://, xhttp://a.b"), IsEmpty());
}

TEST(LiteralsTest, Placeholders) {
  EXPECT_THAT(Find("{name} {0} {{ user.name }} ${x} #{y} %{z} %s %1$d %5.2f "
                   "%(who)s %@"),
              ElementsAre("{name}", "{0}", "{{ user.name }}", "${x}", "#{y}",
                          "%{z}", "%s", "%1$d", "%5.2f", "%(who)s", "%@"));
  EXPECT_THAT(Find("{} { a b } 100% sure {unclosed"), ElementsAre("~100%"));
}

TEST(LiteralsTest, NumbersWithUnits) {
  EXPECT_THAT(
      Find("5 km, 3.5kg, 20%, $3.50, 1,000 \u20ac, 7\u00a0cm, 21 \u00b0C"),
      ElementsAre("~5 km", "~3.5kg", "~20%", "~$3.50", "~1,000 \u20ac",
                  "~7\u00a0cm", "~21 \u00b0C"));
  EXPECT_THAT(Find("5 kmh, x5 km, 5 dogs, the 50s, 2 A"), IsEmpty());
}

TEST(LiteralsTest, LongRunsOfTheirBeginningsTakeNoTime) {
  std::string text;
  for (const char* part : {"{", "%", "a@", "https://", "1.", "$", "{{"}) {
    std::string run;
    while (run.size() < 100000) run += part;
    Find(run);
    text += run;
  }
  Find(text);
  Find("http://a" + std::string(1000000, ')'));
}

}  // namespace
}  // namespace attend
