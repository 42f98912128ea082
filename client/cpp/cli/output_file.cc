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

// Always as long, so that one write takes the place of the one before.
constexpr size_t kDigits = 20;
constexpr size_t kProgressBytes = 3 * (kDigits + 1);

std::string ToText(const OutputFile::Progress& progress) {
  return absl::StrFormat("%0*d %0*d %0*d\n", kDigits, progress.inputs, kDigits,
                         progress.bytes, kDigits, progress.hash);
}

// Nothing: it is none.
std::optional<OutputFile::Progress> ToProgress(absl::string_view text) {
  OutputFile::Progress progress;
  const auto read = [text](int number, auto* value) {
    return absl::SimpleAtoi(text.substr(number * (kDigits + 1), kDigits),
                            value);
  };
  if (text.size() != kProgressBytes || !read(0, &progress.inputs) ||
      !read(1, &progress.bytes) || !read(2, &progress.hash) ||
      text != ToText(progress)) {
    return std::nullopt;
  }
  return progress;
}

// Of what was hashed before, and one more input: FNV-1a, the same in every
// process.
uint64_t Hash(uint64_t before, absl::string_view input) {
  uint64_t hash = before ^ 0xcbf29ce484222325;
  const auto add = [&hash](unsigned char byte) {
    hash = (hash ^ byte) * 0x100000001b3;
  };
  for (const char byte : input) add(static_cast<unsigned char>(byte));
  add('\n');
  return hash;
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& file,
                                            bool resume) {
  struct stat found;
  if (stat(file.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": is no regular file; omit --output to print results"));
  }
  std::string progress_path = ProgressPath(file);
  const int progress =
      open(progress_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (progress < 0) return CannotWrite(progress_path);
  OutputFile output(std::move(progress_path), progress);
  const int stream = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (stream < 0 || fstat(stream, &found) != 0) return CannotWrite(file);
  char text[kProgressBytes + 1];
  const ssize_t count = resume ? pread(progress, text, sizeof text, 0) : 0;
  if (count != 0) {
    const auto read = ToProgress({text, static_cast<size_t>(count)});
    if (!read || read->bytes > found.st_size) {
      return absl::DataLossError(
          absl::StrCat(output.progress_path_, ": does not belong to ", file,
                       ", which has ", found.st_size,
                       " bytes, or is of another version of attend; without "
                       "--resume the output starts over"));
    }
    output.progress_ = *read;
  }
  const int64_t bytes = output.progress_.bytes;
  if (ftruncate(stream, bytes) != 0 || lseek(stream, bytes, SEEK_SET) < 0 ||
      dup2(stream, STDOUT_FILENO) < 0) {
    return CannotWrite(file);
  }
  close(stream);
  if (const absl::Status status = output.Write(); !status.ok()) return status;
  return output;
}

std::string OutputFile::ProgressPath(const std::string& file) {
  return file + ".progress";
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : progress_path_(std::move(other.progress_path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      progress_(other.progress_) {}

absl::Status OutputFile::Skip(
    absl::FunctionRef<std::optional<std::string>()> next) const {
  uint64_t hash = 0;
  int64_t count = 0;
  while (count < done()) {
    const std::optional<std::string> input = next();
    if (!input) break;
    hash = Hash(hash, *input);
    ++count;
  }
  if (count == done() && hash == progress_.hash) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(progress_path_, ": inputs 1 to ", done(),
                   " have changed since their results were written; without "
                   "--resume the output starts over"));
}

absl::Status OutputFile::Record(absl::string_view input) {
  progress_ = {.inputs = progress_.inputs + 1,
               .bytes = lseek(STDOUT_FILENO, 0, SEEK_CUR),
               .hash = Hash(progress_.hash, input)};
  return Write();
}

absl::Status OutputFile::Write() const {
  const std::string text = ToText(progress_);
  if (pwrite(descriptor_, text.data(), text.size(), 0) ==
      static_cast<ssize_t>(text.size())) {
    return absl::OkStatus();
  }
  return CannotWrite(progress_path_);
}

void OutputFile::Finish() { unlink(progress_path_.c_str()); }

}  // namespace attend
