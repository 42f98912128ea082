#include "server/app/model_watch.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

// "load m 2" and the like, of a look.
std::vector<std::string> Look(ModelWatch& watch, const ModelListing& now) {
  std::vector<std::string> changes;
  for (const ModelChange& change : watch.Look(now)) {
    changes.push_back(
        change.kind == ModelChange::Kind::kUnload
            ? absl::StrCat("unload ", change.name)
            : absl::StrCat("load ", change.name, " ", change.version));
  }
  return changes;
}

TEST(ModelWatchTest, WhatIsServedIsLeftAlone) {
  const ModelListing now = {{"m", {1, "a"}}, {"n", {1, "b"}}};
  ModelWatch watch(now);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Look(watch, now), IsEmpty());
}

TEST(ModelWatchTest, ANewVersionIsLoadedWhenItsFilesAreStill) {
  ModelWatch watch({{"m", {1, "a"}}});
  EXPECT_THAT(Look(watch, {{"m", {2, "1 byte"}}}), IsEmpty());
  EXPECT_THAT(Look(watch, {{"m", {2, "2 bytes"}}}), IsEmpty());
  EXPECT_THAT(Look(watch, {{"m", {2, "2 bytes"}}}), ElementsAre("load m 2"));
  // Once, whether that succeeds or not, until its files change.
  EXPECT_THAT(Look(watch, {{"m", {2, "2 bytes"}}}), IsEmpty());
  EXPECT_THAT(Look(watch, {{"m", {2, "3 bytes"}}}), IsEmpty());
  EXPECT_THAT(Look(watch, {{"m", {2, "3 bytes"}}}), ElementsAre("load m 2"));
}

TEST(ModelWatchTest, ARemovedVersionGoesToTheHighestThatRemains) {
  ModelWatch watch({{"m", {3, "c"}}});
  EXPECT_THAT(Look(watch, {{"m", {1, "a"}}}), IsEmpty());
  EXPECT_THAT(Look(watch, {{"m", {1, "a"}}}), ElementsAre("load m 1"));
}

TEST(ModelWatchTest, NamesComeAndGo) {
  ModelWatch watch({{"m", {1, "a"}}});
  const ModelListing two = {{"m", {1, "a"}}, {"n", {4, "b"}}};
  EXPECT_THAT(Look(watch, two), IsEmpty());
  EXPECT_THAT(Look(watch, two), ElementsAre("load n 4"));
  EXPECT_THAT(Look(watch, {{"n", {4, "b"}}}), IsEmpty());
  EXPECT_THAT(Look(watch, {{"n", {4, "b"}}}), ElementsAre("unload m"));
  EXPECT_THAT(Look(watch, {{"n", {4, "b"}}}), IsEmpty());
  // One that was away in one look, while its directory was exchanged, stays.
  EXPECT_THAT(Look(watch, {}), IsEmpty());
  EXPECT_THAT(Look(watch, {{"n", {4, "b"}}}), IsEmpty());
  EXPECT_THAT(Look(watch, {}), IsEmpty());
  EXPECT_THAT(Look(watch, {}), ElementsAre("unload n"));
}

TEST(ModelWatchTest, WhatMayBeLoadedLaterIsAskedForAgain) {
  ModelWatch watch({});
  const ModelListing one = {{"m", {1, "a"}}};
  EXPECT_THAT(Look(watch, one), IsEmpty());
  EXPECT_THAT(Look(watch, one), ElementsAre("load m 1"));
  EXPECT_THAT(Look(watch, one), IsEmpty());
  watch.TryAgain("m");
  EXPECT_THAT(Look(watch, one), ElementsAre("load m 1"));
  EXPECT_THAT(Look(watch, one), IsEmpty());
  watch.TryAgain("m");
  watch.TryAgain("unknown");
  EXPECT_THAT(Look(watch, {}), IsEmpty());
  EXPECT_THAT(Look(watch, {}), ElementsAre("unload m"));
}

// A directory of models.
class ListModelFilesTest : public ::testing::Test {
 protected:
  ListModelFilesTest() {
    Write("m/1/config.json", "{}");
    Write("plain/config.json", "{}");
  }
  ~ListModelFilesTest() override { fs::remove_all(directory_); }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << text;
  }
  ModelListing List() const {
    std::error_code error;
    ModelListing listing = ListModelFiles(
        directory_.string(), {{.name = "given", .directory = "/given"}}, error);
    EXPECT_FALSE(error) << error.message();
    return listing;
  }

  const fs::path directory_ =
      fs::path(::testing::TempDir()) / absl::StrCat("attend_watch_", getpid());
};

TEST_F(ListModelFilesTest, ModelsAreThoseOfModelsDirAlone) {
  Write("given/config.json", "{}");
  Write("a b/config.json", "{}");
  Write("m@2/config.json", "{}");
  Write("other/words", "");
  EXPECT_THAT(List(),
              ElementsAre(Key("a b"), Key("m"), Key("m@2"), Key("plain")));
}

TEST_F(ListModelFilesTest, OtherFilesAreSeen) {
  ModelListing before = List();
  EXPECT_EQ(List(), before);
  Write("m/1/model.safetensors", "1");
  EXPECT_NE(List(), before);
  before = List();
  Write("m/1/model.safetensors", "12");
  EXPECT_NE(List(), before);
  before = List();
  fs::last_write_time(directory_ / "plain/config.json",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_NE(List(), before);
  EXPECT_EQ(List()["m"], before["m"]);
  Write("m/.2/config.json", "{}");
  EXPECT_EQ(List()["m"], before["m"]);
  fs::rename(directory_ / "m/.2", directory_ / "m/2");
  EXPECT_EQ(List()["m"].version, 2);
  EXPECT_NE(List()["m"].files, before["m"].files);
}

TEST_F(ListModelFilesTest, AllPartsOfAFileAreSeen) {
  Write("g-00001-of-00002.gguf", "GGUF");
  Write("h.gguf", "GGUF");
  ModelListing before = List();
  ASSERT_TRUE(before.contains("g"));
  Write("g-00002-of-00002.gguf", "GGUF");
  EXPECT_NE(List()["g"], before["g"]);
  EXPECT_EQ(List()["h"], before["h"]);
}

TEST_F(ListModelFilesTest, ADirectoryThatCannotBeReadIsNoEmptyOne) {
  std::error_code error;
  EXPECT_THAT(ListModelFiles("/no/such", {}, error), IsEmpty());
  EXPECT_TRUE(error);
}

}  // namespace
}  // namespace attend
