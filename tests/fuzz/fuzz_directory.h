#ifndef ATTEND_TESTS_FUZZ_FUZZ_DIRECTORY_H_
#define ATTEND_TESTS_FUZZ_FUZZ_DIRECTORY_H_

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
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
    const std::string path = path_ + "/" + name;
    // A file that is written anew would be flushed to the disk.
    if (unlink(path.c_str()) != 0) {
      std::filesystem::create_directory(
          std::filesystem::path(path).parent_path());
    }
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    ATTEND_CHECK(file >= 0);
    ATTEND_CHECK(write(file, bytes.data(), bytes.size()) ==
                 static_cast<ssize_t>(bytes.size()));
    close(file);
    return path;
  }

 private:
  std::string path_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_FUZZ_FUZZ_DIRECTORY_H_
