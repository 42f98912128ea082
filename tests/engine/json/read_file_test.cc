#include "engine/json/read_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class ReadFileTest : public ::testing::Test {
 protected:
  ~ReadFileTest() override {
    for (const std::string& path : {path_, link_}) {
      std::filesystem::remove(path);
    }
  }

  const std::string path_ =
      absl::StrCat(::testing::TempDir(), "attend_read_file_", getpid());
  const std::string link_ = path_ + ".link";
};

TEST_F(ReadFileTest, ReadsAllBytes) {
  const std::string contents("a\0b\r\n\xff", 6);
  std::ofstream(path_, std::ios::binary) << contents;
  std::filesystem::create_symlink(path_, link_);
  EXPECT_EQ(*ReadFile(path_), contents);
  EXPECT_EQ(*ReadFile(link_), contents);
  std::ofstream(path_, std::ios::trunc);
  EXPECT_EQ(*ReadFile(path_), "");
}

TEST_F(ReadFileTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::filesystem::create_symlink(path_, link_);
  for (const std::string& path : {path_, link_}) {
    EXPECT_EQ(ReadFile(path).status(),
              absl::InvalidArgumentError(path + ": not a regular file"));
  }
}

TEST_F(ReadFileTest, WhatIsNoFile) {
  EXPECT_EQ(ReadFile(path_).status(),
            absl::NotFoundError(path_ + ": no such file"));
  const std::string folder = ::testing::TempDir();
  EXPECT_EQ(ReadFile(folder).status(),
            absl::InvalidArgumentError(folder + ": not a regular file"));
  EXPECT_EQ(ReadFile("/dev/zero").status(),
            absl::InvalidArgumentError("/dev/zero: not a regular file"));
}

TEST_F(ReadFileTest, ALargeFileIsNotRead) {
  std::ofstream(path_).put('a');
  std::filesystem::resize_file(path_, (64 << 20) + 1);  // takes no disk
  const absl::Status status = ReadFile(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("67108865 bytes, limit is 67108864"));
}

}  // namespace
}  // namespace attend
