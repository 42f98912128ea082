#include "tests/support/allocation_count.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace {

std::atomic<bool> counting = false;
std::atomic<long> by_others = 0;
std::atomic<long> by_onednn = 0;
std::atomic<size_t> most_bytes = 0;
// The addresses of libdnnl's code.
uintptr_t onednn_begin = 0;
uintptr_t onednn_end = 0;

// Of AllocationFault: how many are still to succeed; negative: none will fail.
std::atomic<long> left = -1;
std::atomic<size_t> least_bytes = 0;

bool Fails(size_t size) {
  return left.load(std::memory_order_relaxed) >= 0 && size >= least_bytes &&
         left.fetch_sub(1) == 0;
}

void Count(const void* caller, size_t size) {
  if (!counting.load(std::memory_order_relaxed)) return;
  size_t known = most_bytes;
  while (known < size && !most_bytes.compare_exchange_weak(known, size)) {
  }
  const auto address = reinterpret_cast<uintptr_t>(caller);
  ++(address >= onednn_begin && address < onednn_end ? by_onednn : by_others);
}

int FindOnednn(dl_phdr_info* info, size_t, void*) {
  if (std::strstr(info->dlpi_name, "libdnnl") == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    onednn_begin = info->dlpi_addr + header.p_vaddr;
    onednn_end = onednn_begin + header.p_memsz;
  }
  return 1;
}

}  // namespace

namespace attend {

void AllocationCount::Start() {
  dl_iterate_phdr(FindOnednn, nullptr);
  by_others = 0;
  by_onednn = 0;
  most_bytes = 0;
  counting = true;
}

void AllocationFault::Arm(long nth, size_t bytes) {
  least_bytes = bytes;
  left = nth;
}

bool AllocationFault::Disarm() { return left.exchange(-1) < 0; }

AllocationCount AllocationCount::Stop() {
  counting = false;
  return {.ours = by_others, .onednn = by_onednn, .largest = most_bytes};
}

}  // namespace attend

// Symbols of the executable come before those of libraries, so everybody calls
// these. glibc's own names for the real functions are part of its ABI.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  Count(__builtin_return_address(0), size);
  return __libc_malloc(size);
}

void* calloc(size_t items, size_t size) {
  Count(__builtin_return_address(0), items * size);
  return __libc_calloc(items, size);
}

void* realloc(void* old, size_t size) {
  Count(__builtin_return_address(0), size);
  return __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  Count(__builtin_return_address(0), size);
  return __libc_memalign(alignment, size);
}

void* memalign(size_t alignment, size_t size) {
  Count(__builtin_return_address(0), size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  Count(__builtin_return_address(0), size);
  if (Fails(size)) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t length, int protection, int flags, int file,
           off_t offset) {
  Count(__builtin_return_address(0), 0);
  if (Fails(length)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

}  // extern "C"

void* operator new(size_t size) {
  Count(__builtin_return_address(0), size);
  void* result = Fails(size) ? nullptr : __libc_malloc(size);
  if (result == nullptr) throw std::bad_alloc();
  return result;
}

void* operator new[](size_t size) {
  Count(__builtin_return_address(0), size);
  void* result = Fails(size) ? nullptr : __libc_malloc(size);
  if (result == nullptr) throw std::bad_alloc();
  return result;
}
