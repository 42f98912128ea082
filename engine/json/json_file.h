#ifndef ATTEND_ENGINE_JSON_JSON_FILE_H_
#define ATTEND_ENGINE_JSON_JSON_FILE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace attend {

struct IntRange {
  int64_t min = std::numeric_limits<int>::min();
  int64_t max = std::numeric_limits<int>::max();
};
struct FloatRange {
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
};

// A JSON file whose top is an object, read by ParseJson(). Every error names
// the file, the key, what was found and what was expected. A key whose value is
// null counts as absent, as in the configuration files of transformers.
// Immutable. Copies share the contents; any thread may use them.
class JsonFile {
 public:
  // NOT_FOUND if there is no such file, INVALID_ARGUMENT for other errors.
  static absl::StatusOr<JsonFile> Load(const std::string& path);
  // As Load(), but a missing file is an empty object.
  static absl::StatusOr<JsonFile> LoadOrEmpty(const std::string& path);
  // `name` stands for the file in errors.
  static absl::StatusOr<JsonFile> Parse(std::string name,
                                        absl::string_view text);
  // Wraps an existing object. All strings in it must be UTF-8.
  static JsonFile Of(std::string name, nlohmann::json object);
  // The objects of a file whose top is a list of objects.
  static absl::StatusOr<std::vector<JsonFile>> LoadList(
      const std::string& path);

  const std::string& path() const { return path_; }
  bool Has(absl::string_view key) const;
  // Returns true if the key is present with the value null, which has a meaning
  // for a few keys.
  bool IsNull(absl::string_view key) const;

  // INVALID_ARGUMENT if the key is absent, of another type or out of range.
  absl::StatusOr<int64_t> Int(absl::string_view key, IntRange range = {}) const;
  absl::StatusOr<double> Float(absl::string_view key,
                               FloatRange range = {}) const;
  absl::StatusOr<bool> Bool(absl::string_view key) const;
  absl::StatusOr<std::string> String(absl::string_view key) const;
  // One integer, or a list of them.
  absl::StatusOr<std::vector<int>> Ints(absl::string_view key,
                                        IntRange range = {}) const;
  // A list of exactly `count` numbers.
  absl::StatusOr<std::vector<float>> Floats(absl::string_view key, size_t count,
                                            FloatRange range) const;
  absl::StatusOr<std::vector<std::vector<int>>> IntLists(
      absl::string_view key, IntRange range = {}) const;
  // A list of pairs: a list of integers, and a number.
  absl::StatusOr<std::vector<std::pair<std::vector<int>, double>>>
  IntListsWithNumbers(absl::string_view key, IntRange range = {}) const;
  // One string, or a list of them.
  absl::StatusOr<std::vector<std::string>> Strings(absl::string_view key) const;
  // An object whose values are strings.
  absl::StatusOr<std::map<std::string, std::string>> StringMap(
      absl::string_view key) const;

  // The object that is the value of the key. Its errors name this key too.
  absl::StatusOr<JsonFile> Object(absl::string_view key) const;
  // Returns a copy with the fields of `fallback` in place of absent ones.
  JsonFile WithFallback(const JsonFile& fallback) const;
  // A list of objects, whose errors name the key and the index.
  absl::StatusOr<std::vector<JsonFile>> Objects(absl::string_view key) const;

  // The value of the key as JSON, for values of other kinds; null if the key is
  // absent. Valid as long as this object or a copy exists.
  const nlohmann::json* Find(absl::string_view key) const;
  // `value`, an object inside *Find(key). Its errors name the key too.
  absl::StatusOr<JsonFile> ObjectAt(absl::string_view key,
                                    const nlohmann::json& value) const;

  // As above, but an absent key gives `fallback` (which is not checked).
  absl::StatusOr<int64_t> IntOr(absl::string_view key, int64_t fallback,
                                IntRange range = {}) const;
  absl::StatusOr<double> FloatOr(absl::string_view key, double fallback,
                                 FloatRange range = {}) const;
  absl::StatusOr<bool> BoolOr(absl::string_view key, bool fallback) const;
  absl::StatusOr<std::string> StringOr(absl::string_view key,
                                       absl::string_view fallback) const;

  // For files that people write. INVALID_ARGUMENT if there is a key that is
  // none of `keys`, or whose value is null.
  absl::Status ExpectOnly(absl::Span<const absl::string_view> keys) const;

  // OK if the key is absent or its value is empty ("", [], {}), false, or the
  // number `neutral`; otherwise INVALID_ARGUMENT for an unsupported value.
  absl::Status ExpectNeutral(absl::string_view key, double neutral) const;

  // INVALID_ARGUMENT "<file>: <key> is <value>, expected <expected>".
  absl::Status Unexpected(absl::string_view key,
                          absl::string_view expected) const;

 private:
  JsonFile(std::string path, std::shared_ptr<const nlohmann::json> top);
  // The elements of a list, up to the first that is not an object.
  static std::vector<JsonFile> ObjectsOf(
      const std::string& name,
      const std::shared_ptr<const nlohmann::json>& list);

  std::string path_;
  std::shared_ptr<const nlohmann::json> top_;  // an object
};

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_JSON_FILE_H_
