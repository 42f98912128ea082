#ifndef ATTEND_ENGINE_TOKENIZER_RUST_RUST_CALL_H_
#define ATTEND_ENGINE_TOKENIZER_RUST_RUST_CALL_H_

#include <string>
#include <utility>

#include "absl/base/dynamic_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/out_of_memory.h"
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

  // What a sink does with the call that is its context. No exception may leave
  // a sink: the library ends the process then.
  template <class Work>
  static void Sink(void* context, Work work) {
    auto& call = *static_cast<RustCall*>(context);
    const absl::Status done = CatchOutOfMemory([&] {
      work(call);
      return absl::OkStatus();
    });
    call.out_of_memory |= !done.ok();
  }

  // The outcome; `good` is what the function of the library returned.
  absl::StatusOr<Result> Take(bool good) {
    if (out_of_memory) return OutOfMemory();
    if (!good) return absl::InvalidArgumentError(error);
    return std::move(result);
  }

  Result result = {};
  std::string error;
  bool out_of_memory = false;  // in a sink: what it was given is incomplete
};

template <class Result>
void TakeError(void* context, HfText text) {
  RustCall<Result>::Sink(
      context, [&](auto& call) { call.error.assign(text.data, text.size); });
}

inline void TakeText(void* context, HfText text) {
  RustCall<std::string>::Sink(
      context, [&](auto& call) { call.result.assign(text.data, text.size); });
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_RUST_RUST_CALL_H_
