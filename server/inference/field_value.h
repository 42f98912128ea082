#ifndef ATTEND_SERVER_INFERENCE_FIELD_VALUE_H_
#define ATTEND_SERVER_INFERENCE_FIELD_VALUE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/inference/input_tensor.h"

namespace attend {

// Sets a field of a message to the elements of a tensor:
// * a number, a boolean or a string: to the one element;
// * an enumeration: to the value whose name ends with the string ("never" is
//   EARLY_STOPPING_NEVER); true and false are "true" and "false";
// * a list of such fields: to all elements;
// * a message, a map or a list of messages: to what the one element says as
//   JSON, in the form that protobuf defines.
//
// INVALID_ARGUMENT begins with `name`, and names the value and what is wrong
// with it; also if another field of the same oneof is set.
absl::Status SetField(google::protobuf::Message& message,
                      const google::protobuf::FieldDescriptor& field,
                      absl::Span<const Value> elements, absl::string_view name);

// Sets a field to the value of a parameter. As above, but for a list a string
// is JSON, too.
absl::Status SetField(google::protobuf::Message& message,
                      const google::protobuf::FieldDescriptor& field,
                      const Value& parameter, absl::string_view name);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_FIELD_VALUE_H_
