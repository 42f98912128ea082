#ifndef ATTEND_TESTS_SUPPORT_DESCRIPTOR_LIMIT_H_
#define ATTEND_TESTS_SUPPORT_DESCRIPTOR_LIMIT_H_

#include <sys/resource.h>
#include <unistd.h>

#include "engine/tensor/check.h"

namespace attend {

// The file descriptors that this process, and children that it starts, may
// have while the object lives.
class ScopedDescriptorLimit {
 public:
  explicit ScopedDescriptorLimit(rlim_t limit) {
    ATTEND_CHECK(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit wanted = {.rlim_cur = limit, .rlim_max = before_.rlim_max};
    ok_ = setrlimit(RLIMIT_NOFILE, &wanted) == 0;
  }
  ~ScopedDescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  ScopedDescriptorLimit(const ScopedDescriptorLimit&) = delete;
  ScopedDescriptorLimit& operator=(const ScopedDescriptorLimit&) = delete;

  // False: the machine does not allow so many.
  bool ok() const { return ok_; }

 private:
  rlimit before_ = {};
  bool ok_ = false;
};

// The lowest descriptor that is free.
inline int NextDescriptor() {
  const int next = dup(STDERR_FILENO);
  close(next);
  return next;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_DESCRIPTOR_LIMIT_H_
