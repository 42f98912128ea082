#include "server/app/system_limits.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/compute/memory_limit.h"

namespace attend {
namespace {

// The ports and gRPC itself have about 20 descriptors before the first client
// connects.
constexpr rlim_t kDescriptors = 64;
// gRPC and the ports have about 20 threads.
constexpr int kThreads = 24;
// Address space that libraries map for themselves.
constexpr uint64_t kAddressSpace = uint64_t{256} << 20;
// As on most systems. Pages of a stack that are not used take no memory.
constexpr size_t kStackBytes = 8 << 20;

struct StackRun {
  absl::FunctionRef<int()> run;
  int result = 1;
};

void* RunOnThread(void* argument) {
  auto& run = *static_cast<StackRun*>(argument);
  run.result = run.run();
  return nullptr;
}

}  // namespace

void ShareHeapsUnderLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return;
  }
  constexpr int kHeaps = 2;
  mallopt(M_ARENA_MAX, kHeaps);
}

absl::Status CheckDescriptors() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kDescriptors) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("the limit of open files is ", limit.rlim_cur,
                   ", must be at least ", kDescriptors, "; see ulimit -n"));
}

absl::Status CheckThreads() {
  std::latch end(1);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  absl::Status status;
  try {
    while (threads.size() < kThreads) {
      threads.emplace_back([&end] { end.wait(); });
    }
  } catch (const std::exception& error) {  // no thread, or no memory for it
    status = absl::ResourceExhaustedError(
        absl::StrCat("the ports need ", kThreads, " threads, the system gives ",
                     threads.size(), ": ", error.what(),
                     "; see ulimit -u, ulimit -v and pids.max of the cgroup"));
  }
  if (status.ok()) status = CheckAddressSpace("the ports", kAddressSpace);
  end.count_down();
  for (std::thread& thread : threads) thread.join();
  return status;
}

int RunWithStack(absl::FunctionRef<int()> run) {
  pthread_attr_t stack;
  pthread_attr_init(&stack);
  pthread_attr_setstacksize(&stack, kStackBytes);
  pthread_setattr_default_np(&stack);
  pthread_attr_destroy(&stack);
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) {
    return run();
  }
  StackRun started{run};
  pthread_t thread;
  // Without a thread, the server will say so itself.
  if (pthread_create(&thread, nullptr, &RunOnThread, &started) != 0) {
    return run();
  }
  pthread_join(thread, nullptr);
  return started.result;
}

bool OpenStandardDescriptors(char** arguments) {
  bool complete = true;
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    const int flags = fcntl(descriptor, F_GETFD);
    // Descriptors that were open at the start do not have the flag.
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) continue;
    complete = false;
    const int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, descriptor) < 0) return false;
    if (null > 2) close(null);
  }
  if (complete) return true;
  execv("/proc/self/exe", arguments);
  return false;
}

}  // namespace attend
