#ifndef ATTEND_TESTS_SERVER_HUB_FETCH_FIXTURE_H_
#define ATTEND_TESTS_SERVER_HUB_FETCH_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "server/hub/fetch_model.h"
#include "tests/support/fake_hub.h"

namespace attend {

namespace fs = std::filesystem;

inline constexpr int kWeightsBytes = 4096 * 32;   // of the fake's models
inline constexpr int kBytesBeforeTheCut = 50000;  // of the fake's faults
inline constexpr char kWeights[] = "model.safetensors";
inline const char* const kCommits[] = {
    "c0ffee0000000000000000000000000000000000",
    "c0ffee1111111111111111111111111111111111"};

inline std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Fetches models of a fake hub into a cache of its own.
class FetchFixture : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { hub_ = new FakeHub(ATTEND_SOURCE_DIR); }
  static void TearDownTestSuite() { delete hub_; }

  FetchFixture() {
    std::string name = ::testing::TempDir() + "hub_XXXXXX";
    root_ = mkdtemp(name.data());
    settings_.cache = root_ / "hub";
    settings_.endpoint = hub_->endpoint();
    settings_.retry_delay = absl::Milliseconds(1);
    hub_->Forget();
  }
  ~FetchFixture() override { fs::remove_all(root_); }

  absl::StatusOr<std::string> Fetch(const std::string& text) {
    const auto reference = ParseHubReference(text);
    EXPECT_TRUE(reference.ok()) << text;
    return FetchModel(settings_, *reference, "m", stopping_, log_);
  }
  // The directory or file that it has become.
  fs::path FetchGood(const std::string& text) {
    const auto path = Fetch(text);
    EXPECT_TRUE(path.ok()) << path.status();
    return path.value_or("");
  }
  void ExpectError(const std::string& text, absl::StatusCode code,
                   const std::string& words) {
    const auto path = Fetch(text);
    EXPECT_EQ(path.status().code(), code) << path.status();
    EXPECT_THAT(std::string(path.status().message()),
                ::testing::HasSubstr(words));
  }

  fs::path Model(const std::string& repository) const {
    return fs::path(settings_.cache) /
           ("models--" + absl::StrReplaceAll(repository, {{"/", "--"}}));
  }
  // The size of what there is of blobs that are not whole.
  std::vector<uintmax_t> Incomplete(const std::string& repository) const {
    std::vector<uintmax_t> sizes;
    std::error_code missing;
    for (const auto& entry :
         fs::directory_iterator(Model(repository) / "blobs", missing)) {
      if (entry.path().extension() == ".incomplete") {
        sizes.push_back(entry.file_size());
      }
    }
    return sizes;
  }
  // Of the requests since the last call, those that have all the words.
  static std::vector<std::string> Requests(
      const std::vector<std::string>& words) {
    std::vector<std::string> lines =
        absl::StrSplit(hub_->Journal(), '\n', absl::SkipEmpty());
    std::erase_if(lines, [&](const std::string& line) {
      return !std::all_of(words.begin(), words.end(), [&](const auto& word) {
        return absl::StrContains(line, word);
      });
    });
    return lines;
  }

  static inline FakeHub* hub_ = nullptr;
  fs::path root_;
  HubSettings settings_;
  std::function<bool()> stopping_ = [] { return false; };
  Log log_{{.min_level = LogLevel::kError}, STDERR_FILENO};
};

inline std::set<std::string> FilesIn(const fs::path& directory) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_directory()) continue;
    files.insert(entry.path().lexically_relative(directory).string());
  }
  return files;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_HUB_FETCH_FIXTURE_H_
