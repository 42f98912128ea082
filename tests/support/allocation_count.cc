#include "tests/support/allocation_count.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ATTEND_SANITIZED 1
#include <sanitizer/allocator_interface.h>
#endif

namespace {

std::atomic<bool> counting = false;
std::atomic<long> count = 0;

void Count() {
  if (counting.load(std::memory_order_relaxed)) ++count;
}

}  // namespace

#ifdef ATTEND_SANITIZED

namespace attend {

void AllocationCount::Start() {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, size_t) { Count(); },
      [](const volatile void*) {});
  (void)installed;
  count = 0;
  counting = true;
}

}  // namespace attend

#else

// Symbols of the executable come before those of libraries, so everybody calls
// these. glibc's own names for the real functions are part of its ABI.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  Count();
  return __libc_malloc(size);
}

void* calloc(size_t items, size_t size) {
  Count();
  return __libc_calloc(items, size);
}

void* realloc(void* old, size_t size) {
  Count();
  return __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}

void* memalign(size_t alignment, size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  Count();
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t length, int protection, int flags, int file,
           off_t offset) {
  Count();
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

}  // extern "C"

namespace attend {

void AllocationCount::Start() {
  count = 0;
  counting = true;
}

}  // namespace attend

#endif

namespace attend {

long AllocationCount::Stop() {
  counting = false;
  return count;
}

}  // namespace attend
