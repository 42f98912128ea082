// Files that change, or go, while they are read.

#include "engine/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "tests/engine/checkpoint/files.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBytes = 1 << 20;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest()
      : path_(directory_.Write("weights", std::string(kBytes, 'w'))),
        file_(*MappedFile::Open(path_)) {}

  // What CheckUnchanged() says; "": nothing is wrong.
  std::string Error() const {
    const absl::Status status = file_->CheckUnchanged();
    if (status.ok()) return "";
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
    return std::string(status.message());
  }

  const TestDirectory directory_;
  const std::string path_;
  const std::unique_ptr<MappedFile> file_;
};

TEST_F(MappedFileTest, WhatIsCutAwayIsZerosAndKnown) {
  EXPECT_EQ(file_->bytes()[kBytes - 1], 'w');
  std::filesystem::resize_file(path_, kBytes / 2);
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&, i] {
      EXPECT_EQ(file_->bytes()[kBytes / 2 + 5000 * i], 0);
      EXPECT_EQ(file_->bytes()[kBytes - 1], 0);
      EXPECT_EQ(file_->bytes()[0], 'w');
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_THAT(Error(), HasSubstr("was cut, or could not be read"));
  // Even if somebody puts the bytes back.
  std::filesystem::resize_file(path_, kBytes);
  EXPECT_THAT(Error(), HasSubstr("was cut, or could not be read"));
}

// A part of the last page is zeros without a signal.
TEST_F(MappedFileTest, ACutThatNobodyMetIsKnownByTheSize) {
  std::filesystem::resize_file(path_, kBytes - 1);
  EXPECT_EQ(file_->bytes()[kBytes - 1], 0);
  EXPECT_THAT(Error(), HasSubstr("had 1048576 bytes when it was opened, and "
                                 "1048575 when it was loaded"));
}

TEST_F(MappedFileTest, WritingIsKnownByTheTime) {
  EXPECT_EQ(Error(), "");
  // What a write does, whatever the clock's steps are.
  const auto time = std::filesystem::last_write_time(path_);
  std::filesystem::last_write_time(path_, time + std::chrono::milliseconds(1));
  EXPECT_THAT(Error(), HasSubstr("was written"));
}

TEST_F(MappedFileTest, AFileThatIsReplacedOrDeletedStaysWhatItWas) {
  const std::string other = directory_.Write("other", "short");
  std::filesystem::rename(other, path_);
  EXPECT_EQ(file_->bytes()[kBytes - 1], 'w');
  EXPECT_EQ(Error(), "");
  std::filesystem::remove(path_);
  EXPECT_EQ(file_->bytes()[kBytes / 2], 'w');
  EXPECT_EQ(Error(), "");
}

// Whatever a checkpoint was asked for, what was read of it is not used.
TEST(CheckpointFaultsTest, ACutFileIsRefusedByName) {
  const TestDirectory directory;
  const std::string path = directory.Write(
      "model.safetensors", Safetensors(R"({"w":{"dtype":"F32","shape":[65536],)"
                                       R"("data_offsets":[0,262144]}})",
                                       std::string(262144, '\0')));
  const auto checkpoint = Checkpoint::Open(directory.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(checkpoint->CheckUnchanged(), absl::OkStatus());
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(checkpoint->Find("w")->bytes.back(), 0);
  EXPECT_THAT(std::string(checkpoint->CheckUnchanged().message()),
              HasSubstr(path));
}

using LostPagesDeathTest = MappedFileTest;

// Bus errors elsewhere are what they were: ours to be found.
TEST_F(LostPagesDeathTest, OtherBusErrorsStillEndTheProcess) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer ends the process in its own way";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const int fd = open(path_.c_str(), O_RDWR);
        auto* const bytes = static_cast<volatile char*>(
            mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd, 0));
        EXPECT_EQ(ftruncate(fd, 0), 0);
        static_cast<void>(bytes[0]);
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace attend
