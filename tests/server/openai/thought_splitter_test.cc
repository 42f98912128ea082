#include "server/openai/thought_splitter.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// "reasoning|answer" of a text that comes in pieces of `step` bytes.
std::string Split(const Thought& thought, const std::string& text,
                  size_t step) {
  ThoughtSplitter splitter(thought);
  std::string reasoning, answer;
  for (size_t i = 0; i <= text.size(); i += step) {
    const bool last = i + step > text.size();
    const auto parts = splitter.Append(
        absl::string_view(text).substr(std::min(i, text.size()), step), last);
    reasoning += parts.reasoning;
    answer += parts.answer;
  }
  return absl::StrCat(reasoning, "|", answer);
}

TEST(ThoughtSplitterTest, SplitsHoweverTheTextComes) {
  const Thought may = {.begin = "<think>", .end = "</think>", .open = false};
  const Thought open = {.begin = "<think>", .end = "</think>", .open = true};
  const struct {
    const Thought& thought;
    const char *text, *split;
  } cases[] = {
      {may, "<think>\nI see. \n</think>\n\nHello \n", "I see.|Hello \n"},
      {may, "Hello <think>no</think>", "|Hello <think>no</think>"},
      {may, "<thin", "|<thin"},
      {may, " \n", "| \n"},
      {may, "", "|"},
      {may, "<think></think>a", "|a"},
      {may, "<think>cut </thin", "cut </thin|"},
      {may, "<think>a</think>b</think>", "a|b</think>"},
      {open, "a < b\n\n</think> c", "a < b|c"},
      {open, "not ended", "not ended|"},
      {open, "\n</think>\n", "|"},
      {open, "<tool_call>{}</tool_call></think>x",
       "<tool_call>{}</tool_call>|x"},
  };
  for (const auto& c : cases) {
    for (const size_t step : {1, 2, 5, 100}) {
      EXPECT_EQ(Split(c.thought, c.text, step), c.split) << c.text << step;
    }
  }
  EXPECT_EQ(Split(Thought(), "<think>a</think>", 3), "|<think>a</think>");
}

TEST(ThoughtSplitterTest, ReasoningComesAtOnce) {
  const Thought open = {.begin = "<think>", .end = "</think>", .open = true};
  ThoughtSplitter splitter(open);
  EXPECT_EQ(splitter.Append("Let me", false).reasoning, "Let me");
  EXPECT_EQ(splitter.Append(" see", false).reasoning, " see");
}

}  // namespace
}  // namespace attend
