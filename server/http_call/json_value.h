#ifndef ATTEND_SERVER_HTTP_CALL_JSON_VALUE_H_
#define ATTEND_SERVER_HTTP_CALL_JSON_VALUE_H_

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Members of objects stay in the order of the text.
using Json = nlohmann::ordered_json;

// A value in a request, with the name of its field: "messages[2].content". A
// value of another type is a FieldError with the found and the expected value.
class JsonValue {
 public:
  // `json` must outlive the value.
  JsonValue(const Json& json, std::string name, size_t key_size = 0)
      : json_(json), name_(std::move(name)), key_size_(key_size) {}

  const Json& json() const { return json_; }
  const std::string& name() const { return name_; }
  // For a member of an object: the last component of its name.
  absl::string_view key() const {
    return absl::string_view(name_).substr(name_.size() - key_size_);
  }

  // A number without a fraction, in [min, max].
  absl::StatusOr<int64_t> Int(
      int64_t min = std::numeric_limits<int32_t>::min(),
      int64_t max = std::numeric_limits<int32_t>::max()) const;
  // A number in [min, max].
  absl::StatusOr<double> Float(
      double min = -std::numeric_limits<float>::max(),
      double max = std::numeric_limits<float>::max()) const;
  absl::StatusOr<bool> Bool() const;
  absl::StatusOr<std::string> String() const;
  // Appends the entries of a list of 32-bit numbers, of which there may be
  // millions: an entry has a name only in an error.
  absl::Status ReadIds(google::protobuf::RepeatedField<int>& ids) const;
  // The entries of a list, of which there may be 262144.
  absl::StatusOr<std::vector<JsonValue>> List() const;
  // A string, or the entries of a list of strings.
  absl::StatusOr<std::vector<std::string>> Strings() const;
  // The members of an object. Members whose value is null are left out: to the
  // clients of such APIs they are the same as absent ones.
  absl::StatusOr<std::vector<JsonValue>> Members() const;

  // OK, or an error that says `expected` of the value.
  absl::Status Expect(bool condition, absl::string_view expected) const;
  // "<name> is <value>, must be <expected>".
  absl::Status Unexpected(absl::string_view expected) const;

 private:
  JsonValue Entry(size_t index) const;

  const Json& json_;
  std::string name_;
  size_t key_size_;
};

// JSON for an answer. Bytes that are not UTF-8 are replaced by U+FFFD.
std::string DumpJson(const Json& json);

// The JSON object that is the body of a request. INVALID_ARGUMENT if the body
// is none, or if `content_type` is of something else.
absl::StatusOr<Json> ParseBody(absl::string_view body,
                               absl::string_view content_type);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_JSON_VALUE_H_
