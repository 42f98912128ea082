#ifndef ATTEND_ENGINE_TOKENIZER_RUST_RUST_CALL_H_
#define ATTEND_ENGINE_TOKENIZER_RUST_RUST_CALL_H_

#include <string>

#include "absl/base/dynamic_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/rust/hf_tokenizer.h"

namespace attend {

inline HfText ToText(absl::string_view text) {
  return {text.empty() ? "" : text.data(), text.size()};
}

// The result or the error of a call of the Rust library, for the sinks below.
//
// ThreadSanitizer is told to ignore memory accesses during a call: cargo builds
// the library without it, so that it sees the library's calls of malloc, free
// and memcpy, but not the locks that order these calls.
template <class Result>
struct RustCall {
  RustCall() { ABSL_ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN(); }
  ~RustCall() { ABSL_ANNOTATE_IGNORE_READS_AND_WRITES_END(); }

  Result result;
  std::string error;

  absl::Status status() const { return absl::InvalidArgumentError(error); }
};

template <class Result>
void TakeError(void* context, HfText text) {
  static_cast<RustCall<Result>*>(context)->error.assign(text.data, text.size);
}

inline void TakeText(void* context, HfText text) {
  static_cast<RustCall<std::string>*>(context)->result.assign(text.data,
                                                              text.size);
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_RUST_RUST_CALL_H_
