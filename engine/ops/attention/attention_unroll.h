#ifndef ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_UNROLL_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_UNROLL_H_

// Unrolls short loops over vectors, so that these stay in registers. Not with
// sanitizers, which check every access: unrolled, a kernel would take minutes
// to compile.
#if defined(__SANITIZE_ADDRESS__) || defined(ATTEND_THREAD_SANITIZER)
#define ATTEND_UNROLL
#else
#define ATTEND_UNROLL _Pragma("GCC unroll 8")
#endif

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_UNROLL_H_
