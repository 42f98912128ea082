#ifndef ATTEND_TESTS_ENGINE_CHECKPOINT_FILES_H_
#define ATTEND_TESTS_ENGINE_CHECKPOINT_FILES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace attend {

// An empty directory of the running test, removed with it.
class TestDirectory {
 public:
  TestDirectory() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = testing::TempDir() + "attend-XXXXXX";
    path_ = mkdtemp(name.data());
    EXPECT_TRUE(std::filesystem::is_directory(path_)) << test->name();
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

// The bytes of a safetensors file: length of the header, header, data.
inline std::string Safetensors(const std::string& header,
                               const std::string& data) {
  std::string bytes;
  uint64_t length = header.size();
  for (int i = 0; i < 8; ++i, length >>= 8) {
    bytes.push_back(static_cast<char>(length & 0xff));
  }
  return bytes + header + data;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_CHECKPOINT_FILES_H_
