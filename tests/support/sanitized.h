#ifndef ATTEND_TESTS_SUPPORT_SANITIZED_H_
#define ATTEND_TESTS_SUPPORT_SANITIZED_H_

namespace attend {

// With a sanitizer everything is many times slower: tests make fewer requests.
#if defined(__SANITIZE_ADDRESS__) || defined(ATTEND_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_SANITIZED_H_
