#ifndef ATTEND_ENGINE_TENSOR_THREAD_NAME_H_
#define ATTEND_ENGINE_TENSOR_THREAD_NAME_H_

#include <pthread.h>

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// Sets the name of the calling thread that tools show (`top -H`, a profile).
// The system keeps the first 15 bytes.
inline void NameThread(absl::string_view name) {
  pthread_setname_np(pthread_self(), std::string(name.substr(0, 15)).c_str());
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_THREAD_NAME_H_
