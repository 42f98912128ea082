#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_FIELD_ROW_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_FIELD_ROW_H_

#include <optional>
#include <utility>

namespace attend {

// Sets a field of T to a value that the base does not have.
template <typename T>
struct Row {
  const char* field;
  void (*set)(T&);
  const char* value = "";  // where there are several
  bool shows = true;       // false: it may change nothing
};

template <typename T>
void Toggle(std::optional<T>& part, const T& value) {
  part = part ? std::nullopt : std::make_optional(value);
}

// Lists all fields of T. A new field does not compile until it is listed here,
// and fails the test until it has a row.
#define ATTEND_FIELDS(T, ...)                                     \
  inline void Bind(const T& part) {                               \
    [[maybe_unused]] const auto& [__VA_ARGS__] = part;            \
  }                                                               \
  inline std::pair<const char*, const char*> FieldsOf(const T*) { \
    return {#T, #__VA_ARGS__};                                    \
  }

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_FIELD_ROW_H_
