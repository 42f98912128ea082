#ifndef ATTEND_ENGINE_OPS_SIMD_TARGETS_H_
#define ATTEND_ENGINE_OPS_SIMD_TARGETS_H_

// A kernel file (*.inc) is included between ATTEND_<ISA>_BEGIN and
// ATTEND_<ISA>_END, for each instruction set ISA. These macros give each
// function its target: no flag of the build matters, and no instruction gets
// into code that runs on older CPUs: the linker keeps one copy of an inline
// function of the standard library, and flags of a file would make that copy,
// too. ATTEND_AVX512_VNNI and _BF16 are for kernels that multiply int8 or bf16,
// and may use all of avx512.
// clang-format off
#define ATTEND_BASELINE_BEGIN namespace attend::baseline {
#define ATTEND_BASELINE_END }
#ifdef __clang__  // for tests/fuzz and the checks of locks; releases are GCC's
#define ATTEND_AVX2_BEGIN \
  namespace attend::avx2 { \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma\"))), apply_to = function)")
#define ATTEND_AVX2_END } _Pragma("clang attribute pop")
#define ATTEND_AVX512_BEGIN \
  namespace attend::avx512 { \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl\"))), apply_to = function)")
#define ATTEND_AVX512_END ATTEND_AVX2_END
#define ATTEND_AVX512_VNNI_BEGIN \
  namespace attend::avx512 { \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni\"))), apply_to = function)")
#define ATTEND_AVX512_BF16_BEGIN \
  namespace attend::avx512 { \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16\"))), apply_to = function)")
#else
// The pragmas stand last: g++ 14 drops what follows them in a macro.
#define ATTEND_AVX2_BEGIN     \
  namespace attend::avx2 {    \
  _Pragma("GCC push_options") \
  _Pragma("GCC target(\"avx2,fma\")")
#define ATTEND_AVX2_END } _Pragma("GCC pop_options")
#define ATTEND_AVX512_BEGIN   \
  namespace attend::avx512 {  \
  _Pragma("GCC push_options") \
  _Pragma("GCC target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl\")")
#define ATTEND_AVX512_END } _Pragma("GCC pop_options")
#define ATTEND_AVX512_VNNI_BEGIN \
  namespace attend::avx512 {     \
  _Pragma("GCC push_options")    \
  _Pragma("GCC target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni\")")
#define ATTEND_AVX512_BF16_BEGIN \
  namespace attend::avx512 {     \
  _Pragma("GCC push_options")    \
  _Pragma("GCC target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16\")")
#endif
#define ATTEND_AVX512_VNNI_END ATTEND_AVX512_END
#define ATTEND_AVX512_BF16_END ATTEND_AVX512_END
// clang-format on

#endif  // ATTEND_ENGINE_OPS_SIMD_TARGETS_H_
