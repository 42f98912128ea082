#ifndef ATTEND_SERVER_INFERENCE_JSON_MESSAGE_H_
#define ATTEND_SERVER_INFERENCE_JSON_MESSAGE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace attend {

// Fills an empty message from JSON, in the form that protobuf defines. The text
// is one value, as ParseJson() reads it. INVALID_ARGUMENT begins with `name`.
absl::Status ReadJsonMessage(const std::string& json, absl::string_view name,
                             google::protobuf::Message& to);

// The same for one field of an empty message, of any type.
absl::Status ReadJsonField(const std::string& json, absl::string_view name,
                           const google::protobuf::FieldDescriptor& field,
                           google::protobuf::Message& to);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_JSON_MESSAGE_H_
