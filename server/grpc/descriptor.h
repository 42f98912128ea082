#ifndef ATTEND_SERVER_GRPC_DESCRIPTOR_H_
#define ATTEND_SERVER_GRPC_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace attend {

// Owns a file descriptor, or none (negative).
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { Close(); }

  bool ok() const { return number_ >= 0; }
  int get() const { return number_; }
  int Release() { return std::exchange(number_, -1); }
  void Close() {
    if (ok()) close(Release());
  }

 private:
  int number_;
};

// Raises the process's limit of open descriptors as far as the process may. To
// be called once, before there are other threads.
void RaiseDescriptorLimit();
// The present limit of open descriptors.
int DescriptorLimit();

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_DESCRIPTOR_H_
