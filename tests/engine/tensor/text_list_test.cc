#include "engine/tensor/text_list.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace attend {
namespace {

TEST(TextListTest, HasTheTextsThatWereAdded) {
  using std::string_literals::operator""s;
  const std::vector<std::string> texts = {
      "", "a", "", "bc\0d"s, std::string(100, 'x'), ""};
  TextList list;
  EXPECT_EQ(list.size(), 0);
  EXPECT_EQ(list.longest(), 0u);
  for (const std::string& text : texts) list.Add(text);
  list.ShrinkToFit();
  const TextList moved = std::move(list);
  ASSERT_EQ(moved.size(), static_cast<int>(texts.size()));
  for (int i = 0; i < moved.size(); ++i) EXPECT_EQ(moved[i], texts[i]) << i;
  EXPECT_EQ(moved.longest(), 100u);
}

}  // namespace
}  // namespace attend
