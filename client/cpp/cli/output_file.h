#ifndef ATTEND_CLIENT_CPP_CLI_OUTPUT_FILE_H_
#define ATTEND_CLIENT_CPP_CLI_OUTPUT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attend {

// A file in the place of standard output, to which work can come back that was
// ended in the middle, even by SIGKILL or a full disk: beside FILE stands
// FILE.progress, with the number of inputs whose results are in FILE, and the
// bytes of these.
class OutputFile {
 public:
  // From now on standard output is that file. `resume`: what it has of an
  // earlier run stays, up to where FILE.progress says; without that file, or
  // without `resume`, the output begins anew. NOT_FOUND: a file cannot be
  // written. DATA_LOSS: FILE.progress is not what was written to it, or FILE is
  // shorter than it says.
  static absl::StatusOr<OutputFile> Open(const std::string& file, bool resume);
  // FILE.progress.
  static std::string ProgressPath(const std::string& file);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  // The inputs whose results are in the file.
  int64_t done() const { return done_; }
  // The results of so many inputs have been printed. NOT_FOUND: FILE.progress
  // cannot be written.
  absl::Status Record(int64_t done);
  // All have. FILE.progress goes away.
  void Finish();

 private:
  OutputFile(std::string progress_path, int progress)
      : progress_path_(std::move(progress_path)), progress_(progress) {}

  std::string progress_path_;
  int progress_;  // descriptor
  int64_t done_ = 0;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_OUTPUT_FILE_H_
