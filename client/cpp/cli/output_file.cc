#include "client/cpp/cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::NotFoundError(
      absl::StrCat(path, ": cannot write: ", std::strerror(errno)));
}

struct Progress {
  int64_t done = 0;
  int64_t bytes = 0;
};

// Always as long, so that one write takes the place of the one before.
constexpr size_t kDigits = 20;
constexpr size_t kProgressBytes = 2 * kDigits + 2;

std::string ToText(const Progress& progress) {
  return absl::StrFormat("%0*d %0*d\n", kDigits, progress.done, kDigits,
                         progress.bytes);
}

// Nothing: it is none.
std::optional<Progress> ToProgress(absl::string_view text) {
  Progress progress;
  if (text.size() != kProgressBytes ||
      !absl::SimpleAtoi(text.substr(0, kDigits), &progress.done) ||
      !absl::SimpleAtoi(text.substr(kDigits + 1, kDigits), &progress.bytes) ||
      text != ToText(progress)) {
    return std::nullopt;
  }
  return progress;
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& file,
                                            bool resume) {
  std::string progress_path = ProgressPath(file);
  const int progress =
      open(progress_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (progress < 0) return CannotWrite(progress_path);
  OutputFile output(std::move(progress_path), progress);
  const int stream = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  struct stat found;
  if (stream < 0 || fstat(stream, &found) != 0) return CannotWrite(file);
  char text[kProgressBytes + 1];
  const ssize_t count = resume ? pread(progress, text, sizeof text, 0) : 0;
  Progress before;
  if (count != 0) {
    const auto read = ToProgress({text, static_cast<size_t>(count)});
    if (!read || read->bytes > found.st_size) {
      return absl::DataLossError(
          absl::StrCat(output.progress_path_, ": does not belong to ", file,
                       ", which has ", found.st_size,
                       " bytes; without --resume the output ", "begins anew"));
    }
    before = *read;
  }
  if (ftruncate(stream, before.bytes) != 0 ||
      lseek(stream, before.bytes, SEEK_SET) < 0 ||
      dup2(stream, STDOUT_FILENO) < 0) {
    return CannotWrite(file);
  }
  close(stream);
  if (const absl::Status status = output.Record(before.done); !status.ok()) {
    return status;
  }
  return output;
}

std::string OutputFile::ProgressPath(const std::string& file) {
  return file + ".progress";
}

OutputFile::~OutputFile() {
  if (progress_ >= 0) close(progress_);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : progress_path_(std::move(other.progress_path_)),
      progress_(std::exchange(other.progress_, -1)),
      done_(other.done_) {}

absl::Status OutputFile::Record(int64_t done) {
  done_ = done;
  const std::string text =
      ToText({.done = done, .bytes = lseek(STDOUT_FILENO, 0, SEEK_CUR)});
  if (pwrite(progress_, text.data(), text.size(), 0) ==
      static_cast<ssize_t>(text.size())) {
    return absl::OkStatus();
  }
  return CannotWrite(progress_path_);
}

void OutputFile::Finish() { unlink(progress_path_.c_str()); }

}  // namespace attend
