#include "engine/checkpoint/lost_pages.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "engine/tensor/mutex.h"

namespace attend {
namespace {

struct Watch {
  std::atomic<bool> active{false};  // begin and end are constant while it is
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> lost{false};
};

Watch watches[LostPages::kMaxWatches];
Mutex places_mutex;  // of who takes a place; the handler takes none
uintptr_t page_bytes = 0;
struct sigaction before = {};

// The bytes from `begin` on become zeros. No memory is taken: all of these
// pages are the one page of zeros that the system has.
bool MakeZeros(uintptr_t begin, uintptr_t end) {
  return mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
              0) != MAP_FAILED;
}

// Runs in the middle of anything: atomics and system calls only.
void OnBusError(int, siginfo_t* info, void*) {
  const int kept_errno = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Watch& watch : watches) {
    if (!watch.active || address < watch.begin || address >= watch.end) {
      continue;
    }
    watch.lost = true;
    if (MakeZeros(address / page_bytes * page_bytes, watch.end)) {
      errno = kept_errno;
      return;  // and reads again
    }
  }
  sigaction(SIGBUS, &before, nullptr);
  errno = kept_errno;
}

void SetHandler() {
  page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

}  // namespace

LostPages::LostPages(absl::Span<const uint8_t> bytes) {
  static const bool set = (SetHandler(), true);
  static_cast<void>(set);
  MutexLock lock(places_mutex);
  for (int place = 0; place < kMaxWatches; ++place) {
    Watch& watch = watches[place];
    if (watch.active) continue;
    watch.begin = reinterpret_cast<uintptr_t>(bytes.data());
    watch.end = watch.begin + bytes.size();
    watch.lost = false;
    watch.active = true;
    place_ = place;
    return;
  }
}

LostPages::~LostPages() {
  if (place_ < 0) return;
  MutexLock lock(places_mutex);
  watches[place_].active = false;
}

bool LostPages::lost() const { return place_ >= 0 && watches[place_].lost; }

}  // namespace attend
