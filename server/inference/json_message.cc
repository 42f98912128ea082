#include "server/inference/json_message.h"

#include <google/protobuf/util/json_util.h>

#include <cstddef>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// A status message travels in metadata, which clients limit to some KiB.
constexpr size_t kShownBytes = 200;

// protobuf's own reader takes more than JSON; what comes here has been read
// strictly.
absl::Status Fill(const std::string& json, absl::string_view name,
                  google::protobuf::Message& to) {
  const auto status = google::protobuf::util::JsonStringToMessage(json, &to);
  if (status.ok()) return absl::OkStatus();
  const std::string why(status.message());
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is not JSON of its type: %s", name,
                      absl::CHexEscape(why.substr(0, kShownBytes))));
}

}  // namespace

absl::Status ReadJsonMessage(const std::string& json, absl::string_view name,
                             google::protobuf::Message& to) {
  RETURN_IF_ERROR(ParseJson(name, json).status());
  return Fill(json, name, to);
}

absl::Status ReadJsonField(const std::string& json, absl::string_view name,
                           const google::protobuf::FieldDescriptor& field,
                           google::protobuf::Message& to) {
  // Alone first: it must be one value, not several members of an object.
  RETURN_IF_ERROR(ParseJson(name, json).status());
  return Fill(absl::StrCat("{\"", field.name(), "\":", json, "}"), name, to);
}

}  // namespace attend
