// attend-server as users start it: blocks the signals that ask for something,
// and becomes the server's program. That links some 80 libraries, and the
// loader takes milliseconds to map and relocate them. For process 1 of a
// container, Linux discards signals that come meanwhile, and a container that
// is stopped so early is killed at the end of its grace period. This program
// links the C library alone; a blocked signal waits for the server.

#include <limits.h>
#include <signal.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

// The program, from the folder of this one.
constexpr char kProgram[] = "../libexec/attend/attend-server-program";

void BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
    sigaddset(&set, number);
  }
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

// The path of this program; false: unknown.
bool FindSelf(char (&path)[PATH_MAX]) {
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length > 0) {
    path[length] = '\0';
    return true;
  }
  // Without /proc: the path by which it was started.
  const auto* const started =
      reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started == nullptr || std::strlen(started) >= sizeof(path)) return false;
  std::memcpy(path, started, std::strlen(started) + 1);
  return true;
}

}  // namespace

int main(int, char** argv) {
  BlockSignals();
  char path[PATH_MAX];
  if (!FindSelf(path)) return 127;
  char* const slash = std::strrchr(path, '/');
  char* const name = slash == nullptr ? path : slash + 1;
  if (name + sizeof(kProgram) > path + sizeof(path)) return 127;
  std::memcpy(name, kProgram, sizeof(kProgram));
  execv(path, argv);
  std::fprintf(stderr, "attend-server: cannot run %s: %s\n", path,
               std::strerror(errno));
  return 127;
}
