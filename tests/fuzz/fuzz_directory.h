#ifndef ATTEND_TESTS_FUZZ_FUZZ_DIRECTORY_H_
#define ATTEND_TESTS_FUZZ_FUZZ_DIRECTORY_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/string_view.h"
#include "engine/tensor/check.h"

namespace attend {

// A directory of this process for what reads files; removed with it. TMPDIR
// says where: in memory it is faster.
class FuzzDirectory {
 public:
  FuzzDirectory() {
    std::string name =
        (std::filesystem::temp_directory_path() / "attend-XXXXXX").string();
    ATTEND_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~FuzzDirectory() { std::filesystem::remove_all(path_); }
  FuzzDirectory(const FuzzDirectory&) = delete;
  FuzzDirectory& operator=(const FuzzDirectory&) = delete;

  const std::string& path() const { return path_; }
  // Returns the path of the file. `name` may have one folder in it.
  std::string Write(const std::string& name, absl::string_view bytes) const {
    const std::filesystem::path path = std::filesystem::path(path_) / name;
    std::filesystem::create_directory(path.parent_path());
    // A file that is written anew would be flushed to the disk.
    std::filesystem::remove(path);
    std::ofstream stream(path, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    ATTEND_CHECK(stream.flush().good());
    return path.string();
  }

 private:
  std::string path_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_FUZZ_FUZZ_DIRECTORY_H_
