#ifndef ATTEND_ENGINE_TENSOR_BUFFER_H_
#define ATTEND_ENGINE_TENSOR_BUFFER_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace attend {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// Owns `count` values of T at a 64-byte boundary (one cache line, one AVX-512
// register). All of it is written at construction, so that no page fault is
// left for a request to pay. In huge pages if it is that large and the kernel
// has them: one row, which only reads weights, takes 4 to 8 % less. T must
// be trivially copyable.
template <typename T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t count) : size_(count) {
    if (count == 0) return;
    const size_t align =
        count * sizeof(T) < kHugePageBytes ? 64 : kHugePageBytes;
    const size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
    void* memory = nullptr;
    if (posix_memalign(&memory, align, bytes) != 0) throw std::bad_alloc();
    data_.reset(static_cast<T*>(memory));
    if (align == kHugePageBytes) {
      // Advice: where it is not taken, pages are small.
      madvise(memory, bytes, MADV_HUGEPAGE);
    }
    std::memset(static_cast<void*>(data_.get()), 0, bytes);
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_BUFFER_H_
