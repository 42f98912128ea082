#include "server/app/model_versions.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Optional;

// A directory of models, with "m" in versions and "plain" without.
class ModelVersionsTest : public ::testing::Test {
 protected:
  ModelVersionsTest() {
    for (const char* name : {"m/2", "m/10", "m/010", "m/v11", "m/0", "m/-3"}) {
      fs::create_directories(directory_ / name);
    }
    std::ofstream(directory_ / "m/12") << "no directory";
    fs::create_directories(directory_ / "plain/7");
    std::ofstream(directory_ / "plain/config.json") << "{}";
  }
  ~ModelVersionsTest() override { fs::remove_all(directory_); }

  absl::StatusOr<ModelSource> Find(const std::string& name,
                                   int64_t version = 0) const {
    return FindModel(at_start_, directory_.string(), name, version);
  }
  std::string ErrorOf(const std::string& name, int64_t version) const {
    const absl::Status status = Find(name, version).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
    return std::string(status.message());
  }

  // Those of --model, and what models_dir had.
  std::vector<ModelSource> at_start_ = {
      {.name = "given", .directory = "/given", .draft = "/draft"},
      {.name = "m",
       .directory = "",
       .draft = "/m-draft",
       .shortlist = "/m-list",
       .listed = true}};
  const fs::path directory_ = fs::path(::testing::TempDir()) /
                              absl::StrCat("attend_versions_", getpid());
};

TEST_F(ModelVersionsTest, TheHighestNumberCounts) {
  EXPECT_THAT(HighestVersion((directory_ / "m").string()), Optional(10));
  EXPECT_EQ(HighestVersion((directory_ / "none").string()), std::nullopt);
  EXPECT_EQ(HighestVersion(directory_.string()), std::nullopt);
}

TEST_F(ModelVersionsTest, AModelIsFoundAsItIsNow) {
  const auto highest = Find("m");
  ASSERT_TRUE(highest.ok()) << highest.status();
  EXPECT_EQ(highest->version, 10);
  EXPECT_EQ(highest->directory, (directory_ / "m/10").string());
  const auto pinned = Find("m", 2);
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  EXPECT_EQ(pinned->version, 2);
  EXPECT_EQ(pinned->directory, (directory_ / "m/2").string());
  fs::create_directories(directory_ / "m/11");
  EXPECT_EQ(Find("m")->version, 11);
  // What is a model itself has no versions.
  EXPECT_EQ(Find("plain")->version, 1);
  EXPECT_EQ(Find("plain", 1)->directory, (directory_ / "plain").string());
}

TEST_F(ModelVersionsTest, ANameMayPinAVersion) {
  const auto pinned = Find("m@2");
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  EXPECT_EQ(pinned->name, "m@2");
  EXPECT_EQ(pinned->version, 2);
  EXPECT_EQ(pinned->directory, (directory_ / "m/2").string());
  EXPECT_EQ(pinned->draft, "/m-draft");
  EXPECT_EQ(Find("m@2", 2)->version, 2);
  EXPECT_EQ(Find("given@1")->directory, "/given");
  EXPECT_EQ(Find("m@2", 10).status().message(),
            "version is 10, and name is 'm@2', must be the same version");
  EXPECT_EQ(ErrorOf("m@3", 0), "model 'm' has no version 3, its highest is 10");
}

// However long the name is that a client sends.
TEST_F(ModelVersionsTest, AVersionHasNoVersions) {
  std::string name = "m";
  for (int i = 0; i < 200'000; ++i) name += "@2";
  for (const std::string& wrong : {std::string("m@2@2"), name}) {
    EXPECT_THAT(std::string(Find(wrong).status().message()),
                HasSubstr("which is version 2 of 'm'"));
  }
}

TEST_F(ModelVersionsTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(ErrorOf("m", 3), "model 'm' has no version 3, its highest is 10");
  EXPECT_EQ(ErrorOf("plain", 7),
            "model 'plain' has no version 7, its highest is 1");
  EXPECT_THAT(ErrorOf("none", 0), HasSubstr("model 'none' is neither one of"));
}

TEST_F(ModelVersionsTest, OptionsOfANameStay) {
  EXPECT_EQ(Find("m")->draft, "/m-draft");
  EXPECT_EQ(Find("m")->shortlist, "/m-list");
  EXPECT_EQ(Find("plain")->draft, "");
  // What --model names is no matter of the directory.
  fs::create_directories(directory_ / "given/3");
  EXPECT_EQ(Find("given")->directory, "/given");
  EXPECT_EQ(Find("given")->draft, "/draft");
}

TEST_F(ModelVersionsTest, OtherModelsDoNotMatter) {
  fs::create_directories(directory_ / "m copy/1");
  fs::create_directories(directory_ / "twice/1");
  std::ofstream(directory_ / "twice.gguf") << "GGUF";
  fs::remove_all(directory_ / "plain");
  EXPECT_EQ(Find("m")->version, 10);
  EXPECT_EQ(Find("m copy").status().code(), absl::StatusCode::kInvalidArgument);
  const absl::Status twice = Find("twice").status();
  EXPECT_EQ(twice.code(), absl::StatusCode::kFailedPrecondition) << twice;
  EXPECT_EQ(twice.message(),
            "models_dir has 2 models of the name 'twice', must have one");
}

TEST_F(ModelVersionsTest, ADirectoryThatCannotBeReadIsSaidWithoutItsPath) {
  fs::remove_all(directory_);
  const absl::Status status = Find("m").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()),
              testing::Not(HasSubstr(directory_.string())));
  EXPECT_EQ(Find("given")->directory, "/given");
}

}  // namespace
}  // namespace attend
