#ifndef ATTEND_CLIENT_CPP_CLI_OUTPUT_FILE_H_
#define ATTEND_CLIENT_CPP_CLI_OUTPUT_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// A file in the place of standard output, to which work can come back that was
// ended in the middle, even by SIGKILL or a full disk: beside FILE stands
// FILE.progress, with the number of inputs whose results are in FILE, the bytes
// of these results, and a hash of these inputs.
class OutputFile {
 public:
  // From now on standard output is that file. `resume`: what it has of an
  // earlier run stays, up to where FILE.progress says; without that file, or
  // without `resume`, the output begins anew. NOT_FOUND: a file cannot be
  // written. INVALID_ARGUMENT: FILE is there, and is no regular file.
  // DATA_LOSS: FILE.progress is not what was written to it, or FILE is shorter
  // than it says.
  static absl::StatusOr<OutputFile> Open(const std::string& file, bool resume);
  // FILE.progress.
  static std::string ProgressPath(const std::string& file);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  // The inputs whose results are in the file.
  int64_t done() const { return progress_.inputs; }
  // Takes these inputs away from those that `next` gives. DATA_LOSS: they are
  // not the same as before.
  absl::Status Skip(absl::FunctionRef<std::optional<std::string>()> next) const;
  // The result of the next input has been printed. NOT_FOUND: FILE.progress
  // cannot be written.
  absl::Status Record(absl::string_view input);
  // All have. FILE.progress goes away.
  void Finish();

  // What FILE.progress has.
  struct Progress {
    int64_t inputs = 0;
    int64_t bytes = 0;
    uint64_t hash = 0;  // of the inputs
  };

 private:
  OutputFile(std::string progress_path, int descriptor)
      : progress_path_(std::move(progress_path)), descriptor_(descriptor) {}

  absl::Status Write() const;

  std::string progress_path_;
  int descriptor_;  // of FILE.progress
  Progress progress_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_OUTPUT_FILE_H_
