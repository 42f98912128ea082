#include "server/app/model_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace attend {
namespace {

namespace fs = std::filesystem;

TEST(AbsoluteDirectoryTest, BeginsAtTheRoot) {
  EXPECT_EQ(AbsoluteDirectory("/m/opus/"), "/m/opus");
  EXPECT_EQ(AbsoluteDirectory("/m/../n//opus"), "/n/opus");
  EXPECT_EQ(AbsoluteDirectory("rel"), (fs::current_path() / "rel").string());
}

TEST(WithoutDirectoryTest, LeavesNamesOfParts) {
  EXPECT_EQ(WithoutDirectory(
                absl::NotFoundError("/srv/m-00002-of-00002.gguf: no such file"),
                "/srv/m-00001-of-00002.gguf")
                .message(),
            "m-00002-of-00002.gguf: no such file");
}

TEST(WithoutDirectoryTest, LeavesTheNameOfAShortlist) {
  EXPECT_EQ(
      WithoutDirectories(
          absl::InvalidArgumentError("/srv/lists/lex.s2t: line 3 of /m/a"),
          {.name = "a", .directory = "/m", .shortlist = "/srv/lists/lex.s2t"})
          .message(),
      "lex.s2t: line 3 of a");
}

TEST(WithoutDirectoryTest, LeavesNamesOfFiles) {
  const auto text = [](const char* message) {
    return std::string(
        WithoutDirectory(absl::NotFoundError(message), "/srv/m").message());
  };
  EXPECT_EQ(text("/srv/m/config.json: no such file"),
            "config.json: no such file");
  EXPECT_EQ(text("/srv/m: has no weights; convert /srv/m"),
            "the model's directory: has no weights; convert the model's "
            "directory");
  EXPECT_EQ(WithoutDirectory(absl::NotFoundError("/srv/m.gguf: tensor a"),
                             "/srv/m.gguf")
                .message(),
            "m.gguf: tensor a");
}

}  // namespace
}  // namespace attend
