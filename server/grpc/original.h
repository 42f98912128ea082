#ifndef ATTEND_SERVER_GRPC_ORIGINAL_H_
#define ATTEND_SERVER_GRPC_ORIGINAL_H_

#include <dlfcn.h>

#include "engine/tensor/check.h"

namespace attend {

// The library's function of a symbol whose place a function of this program
// takes, which the library itself calls: so it is there.
template <class Function>
Function* Original(const char* symbol) {
  auto* found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, symbol));
  ATTEND_CHECK(found != nullptr);
  return found;
}

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_ORIGINAL_H_
