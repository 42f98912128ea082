#include "engine/tokenizer/text/ids_only.h"

#include <unistd.h>

#include <filesystem>

#include "engine/tokenizer/load_tokenizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

TEST(IdsOnlyTest, ADirectoryWithoutTokenizerHasOneThatKnowsNoText) {
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() /
      ("attend_ids_only_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  const auto tokenizer = LoadTokenizer(directory);
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->vocab_size(Side::kSource), 0);
  const auto ids = (*tokenizer)->Encode({.text = "a text"});
  EXPECT_EQ(ids.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ids.status().message()),
              testing::HasSubstr("has no tokenizer"));
  EXPECT_EQ(ids.status().message().find(directory.string()),
            absl::string_view::npos);
  EXPECT_EQ((*tokenizer)->Decode({{1, 2}}, Side::kTarget, false).status(),
            ids.status());
}

}  // namespace
}  // namespace attend
