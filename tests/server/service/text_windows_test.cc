#include "server/service/text_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/service/window_list.h"
#include "tests/support/fake_tokenizer.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr char kWindowField[] = "inputs[3].text";

// Tokens of the fake tokenizer: those of "abc..." and the end of sequence.
std::vector<int> LetterIds(int bytes) {
  std::vector<int> ids;
  for (int i = 0; i < bytes; ++i) ids.push_back('a' + i % 26 + 1);
  return ids;
}

std::string Letters(int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back('a' + i % 26);
  return text;
}

// Each window begins where the one before it has `overlap` tokens left, until
// one reaches the end of the text.
TEST(TextWindowsTest, EachWindowSharesTheOverlapWithTheNext) {
  const FakeTokenizer tokenizer;
  for (const int bytes : {0, 1, 6, 7, 8, 12, 13, 40}) {
    for (int overlap = 0; overlap < 6; ++overlap) {
      SCOPED_TRACE(absl::StrCat(bytes, " bytes, overlap ", overlap));
      const auto windows =
          TextWindows::OfText(Letters(bytes), {.tokens = 7, .overlap = overlap},
                              true, tokenizer, kWindowField);
      ASSERT_TRUE(windows.ok()) << windows.status();
      const std::vector<int> whole = LetterIds(bytes);
      int begin = 0;
      for (int i = 0; i < windows->size(); ++i) {
        const int end = std::min(begin + 6, bytes);  // and the end of sequence
        std::vector<int> ids(whole.begin() + begin, whole.begin() + end);
        ids.push_back(0);
        EXPECT_EQ(windows->Tokens(i, false).ids, ids);
        EXPECT_EQ(windows->CountTokens(i), static_cast<int>(ids.size()));
        const std::vector<TokenOrigin> origins = windows->Origins(i);
        ASSERT_EQ(origins.size(), ids.size());
        EXPECT_EQ(origins.front().begin, begin == end ? 0 : begin);
        EXPECT_EQ(origins.back().text, -1);
        EXPECT_EQ(end == bytes, i + 1 == windows->size());
        begin = end - overlap;
      }
    }
  }
}

TEST(TextWindowsTest, ATextThatFitsNeedsNoRoomForTheOverlap) {
  const FakeTokenizer tokenizer;
  const auto windows = TextWindows::OfText(
      Letters(6), {.tokens = 7, .overlap = 6}, true, tokenizer, kWindowField);
  ASSERT_TRUE(windows.ok()) << windows.status();
  EXPECT_EQ(windows->size(), 1);
  const auto longer = TextWindows::OfText(
      Letters(7), {.tokens = 7, .overlap = 6}, true, tokenizer, kWindowField);
  EXPECT_EQ(longer.status().message(),
            "inputs[3].text is longer than a window of 7 tokens "
            "(max_text_tokens), which has room for 6 of the text, must be more "
            "than 6 (stride)");
  EXPECT_EQ(
      TextWindows::OfText("", {.tokens = 7}, false, tokenizer, kWindowField)
          .status()
          .message(),
      "inputs[3].text has no tokens, must have one");
}

// A text that could not be read has one input.
TEST(WindowListTest, EachWindowIsAnInput) {
  const FakeTokenizer tokenizer;
  WindowList list;
  EXPECT_EQ(list.inputs(), 0);
  for (const int bytes : {13, 1, 0, 40}) {
    list.Add(TextWindows::OfText(Letters(bytes), {.tokens = 7}, bytes > 0,
                                 tokenizer, kWindowField));
  }
  EXPECT_EQ(list.texts(), 4);
  EXPECT_THAT(list.ends(), ElementsAre(3, 4, 5, 12));
  EXPECT_FALSE(list.of(2).ok());
  EXPECT_THAT(list.At(0), Pair(0, 0));
  EXPECT_THAT(list.At(2), Pair(0, 2));
  EXPECT_THAT(list.At(3), Pair(1, 0));
  EXPECT_THAT(list.At(4), Pair(2, 0));
  EXPECT_THAT(list.At(11), Pair(3, 6));
}

}  // namespace
}  // namespace attend
