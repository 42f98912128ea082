#include "engine/api/thought.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

// The text with each byte's place: u(ndecided), i(nside), a(nswer). The place
// of a byte is where the text was before it.
std::string Places(const Thought& thought, const std::string& text) {
  ThoughtReader reader(thought);
  std::string places;
  for (const char c : text) {
    places += "uia"[static_cast<int>(reader.place())];
    reader.Read(c);
  }
  return places + "uia"[static_cast<int>(reader.place())];
}

TEST(ThoughtTest, MarksAreFoundAtTheBeginningOnly) {
  const Thought thought = {.begin = "<t>", .end = "</t>", .open = false};
  EXPECT_EQ(Places(thought, "<t>a</t>b"), "uuuiiiiiaa");
  EXPECT_EQ(Places(thought, "\n <t>"), "uuuuui");
  EXPECT_EQ(Places(thought, "a<t>b</t>"), "uaaaaaaaaa");
  EXPECT_EQ(Places(thought, "<table>"), "uuuaaaaa");
  EXPECT_EQ(Places(thought, "<t><</</t>"), "uuuiiiiiiia");
  EXPECT_EQ(Places(thought, ""), "u");
}

TEST(ThoughtTest, ThePromptMayHaveBegunIt) {
  const Thought open = {.begin = "<t>", .end = "</t>", .open = true};
  EXPECT_EQ(Places(open, "<t></t>a"), "iiiiiiiaa");
  EXPECT_EQ(Places(Thought(), "<t>"), "aaaa");
}

// Marks of several special tokens begin alike: "<|" and more.
TEST(ThoughtTest, AMarkMayRepeatItsBeginning) {
  const Thought open = {.begin = "<t>", .end = "<|<|e|>", .open = true};
  EXPECT_EQ(Places(open, "<|<|<|e|>a"), "iiiiiiiiiaa");
  EXPECT_EQ(Places(open, "<<|e|><|<<|<|e|>"), "iiiiiiiiiiiiiiiia");
}

TEST(ThoughtTest, SpecialTokensAreSpelledInTheMarkThatComesNext) {
  const Thought thought = {.begin = "<|t|>thought",
                           .end = "</t>",
                           .specials = {{7, "<|t|>"}, {8, "</t>"}}};
  ThoughtReader reader(thought);
  EXPECT_EQ(reader.Spelling(7), "<|t|>");
  EXPECT_EQ(reader.Spelling(8), "");
  for (const char c : thought.begin) reader.Read(c);
  EXPECT_EQ(reader.Spelling(7), "");
  EXPECT_EQ(reader.Spelling(8), "</t>");
  for (const char c : thought.end) reader.Read(c);
  EXPECT_EQ(reader.Spelling(8), "");
}

}  // namespace
}  // namespace attend
