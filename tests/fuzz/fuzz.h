#ifndef ATTEND_TESTS_FUZZ_FUZZ_H_
#define ATTEND_TESTS_FUZZ_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/check.h"

// What is done with one input: each *_fuzz.cc has its own. Aborts if a promise
// is broken. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace attend {

inline absl::string_view View(const uint8_t* data, size_t size) {
  return absl::string_view(reinterpret_cast<const char*>(data), size);
}

// How many inputs were accepted so far: not only refused at the first byte.
inline int64_t accepted_inputs = 0;

// The error of an input that is not what it should be: it names the file.
inline void CheckRefusal(const absl::Status& status, absl::string_view file) {
  ATTEND_CHECK(absl::IsInvalidArgument(status));
  ATTEND_CHECK(status.message().find(file) != absl::string_view::npos);
}

// Counts an input that was accepted, and checks the error of another. Returns
// whether it was accepted.
inline bool Accepted(const absl::Status& status, absl::string_view file) {
  if (!status.ok()) {
    CheckRefusal(status, file);
    return false;
  }
  ++accepted_inputs;
  return true;
}

}  // namespace attend

#endif  // ATTEND_TESTS_FUZZ_FUZZ_H_
