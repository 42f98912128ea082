#include "server/grpc/descriptor.h"

#include <sys/resource.h>

#include <algorithm>
#include <climits>

namespace attend {
namespace {

int ToInt(rlim_t limit) {
  return static_cast<int>(std::min<rlim_t>(limit, INT_MAX));
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
      limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int DescriptorLimit() {
  rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? ToInt(limit.rlim_cur) : 0;
}

}  // namespace attend
