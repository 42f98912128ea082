#include "server/app/exceptions.h"

#include <execinfo.h>

#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// Where an exception passes a function of the C library, as pthread_once, that
// loads a library for it, and ends the process if there is no memory left. So
// it is loaded while there is.
void LoadUnwinder() {
  void* frame;
  backtrace(&frame, 1);
}

}  // namespace

absl::Status CatchExceptions(absl::FunctionRef<absl::Status()> work) try {
  LoadUnwinder();
  return work();
} catch (const std::bad_alloc&) {
  return absl::ResourceExhaustedError(
      "the system gives no more memory; see ulimit -v");
} catch (const std::filesystem::filesystem_error& error) {
  return absl::UnavailableError(error.what());
} catch (const std::system_error& error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the system gives no more threads: ", error.what(),
                   "; see ulimit -u, ulimit -v and pids.max of the cgroup"));
} catch (const std::exception& error) {
  return absl::InternalError(absl::StrCat("unexpected: ", error.what()));
}

}  // namespace attend
