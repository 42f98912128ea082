#include "server/app/alias_options.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A directory of models with "m" in versions 1 and 2, and --model other.
class AliasOptionsTest : public ::testing::Test {
 protected:
  AliasOptionsTest() {
    for (const char* name : {"m/1", "m/2"}) {
      fs::create_directories(directory_ / name);
    }
  }
  ~AliasOptionsTest() override { fs::remove_all(directory_); }

  absl::StatusOr<std::vector<ModelAlias>> Find(
      const std::vector<std::string>& aliases) {
    options_.aliases = aliases;
    return FindAliases(options_, sources_);
  }
  std::string ErrorOf(const std::vector<std::string>& aliases) {
    const absl::Status status = Find(aliases).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  }

  const fs::path directory_ = fs::path(::testing::TempDir()) /
                              absl::StrCat("attend_aliases_", getpid());
  ModelOptions options_ = {.models_dir = directory_.string()};
  std::vector<ModelSource> sources_ = {
      {.name = "other", .directory = "/other"},
      {.name = "m",
       .directory = (directory_ / "m/2").string(),
       .version = 2,
       .versions = (directory_ / "m").string(),
       .listed = true}};
};

TEST_F(AliasOptionsTest, EntriesOfANameAreOneAlias) {
  const auto aliases = Find({"a=m:5", "b=other", "a=m@1:95", "m=m@1"});
  ASSERT_TRUE(aliases.ok()) << aliases.status();
  ASSERT_EQ(aliases->size(), 3u);
  const ModelAlias& a = aliases->front();
  EXPECT_EQ(a.name, "a");
  ASSERT_EQ(a.targets.size(), 2u);
  EXPECT_EQ(a.targets[0].model, "m");
  EXPECT_EQ(a.targets[0].weight, 5);
  EXPECT_EQ(a.targets[1].model, "m@1");
  EXPECT_EQ(a.targets[1].weight, 95);
  EXPECT_EQ((*aliases)[1].targets[0].weight, 1);
  // The version is served beside the highest, once.
  ASSERT_EQ(sources_.size(), 3u);
  EXPECT_EQ(sources_[2].name, "m@1");
  EXPECT_EQ(sources_[2].version, 1);
  EXPECT_EQ(sources_[2].directory, (directory_ / "m/1").string());
}

TEST_F(AliasOptionsTest, WrongOnesAreNamed) {
  EXPECT_EQ(ErrorOf({"a"}),
            "alias is 'a': must be NAME=MODEL or NAME=MODEL:WEIGHT");
  EXPECT_THAT(ErrorOf({"a=m", "a=none"}),
              HasSubstr("alias is 'a=none': model 'none' is none of those"));
  EXPECT_THAT(ErrorOf({"a=m@3"}), HasSubstr("model 'm' has no version 3"));
  EXPECT_THAT(ErrorOf({"a=m:0"}), HasSubstr("weight of 'm' is 0"));
  EXPECT_THAT(ErrorOf({"a=m", "a=m:2"}), HasSubstr("names model 'm' twice"));
  EXPECT_THAT(ErrorOf({"a b=m"}), HasSubstr("model name is 'a b'"));
  EXPECT_THAT(ErrorOf({"a@2=m"}), HasSubstr("model name is 'a@2'"));
}

}  // namespace
}  // namespace attend
