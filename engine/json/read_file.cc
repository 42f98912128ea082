#include "engine/json/read_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace attend {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  constexpr uintmax_t kMaxBytes = uintmax_t{64} << 20;
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(path, ": cannot be read: ", error.message()));
  }
  if (!fs::is_regular_file(status)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a regular file"));
  }
  const uintmax_t size = fs::file_size(path, error);
  if (error || size > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", error ? error.message() : absl::StrCat(size, " bytes"),
        ", limit is ", kMaxBytes, " bytes"));
  }
  std::string contents(size, '\0');
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  file.read(contents.data(), static_cast<std::streamsize>(size));
  if (!file) {
    return absl::UnavailableError(
        absl::StrCat(path, ": cannot be read", errno == 0 ? "" : ": ",
                     errno == 0 ? "" : strerror(errno)));
  }
  return contents;
}

}  // namespace attend
