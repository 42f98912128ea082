#ifndef ATTEND_TESTS_SUPPORT_SANITIZED_H_
#define ATTEND_TESTS_SUPPORT_SANITIZED_H_

namespace attend {

// Under a sanitizer all is many times slower: fewer requests do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_SANITIZED_H_
