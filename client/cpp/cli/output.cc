#include "client/cpp/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace attend {

bool Print(absl::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0) {
    return true;
  }
  std::fprintf(stderr, "attend: cannot write to standard output: %s\n",
               std::strerror(errno));
  return false;
}

}  // namespace attend
