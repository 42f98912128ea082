#ifndef ATTEND_SERVER_CONNECT_JSON_MESSAGE_H_
#define ATTEND_SERVER_CONNECT_JSON_MESSAGE_H_

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace attend {

// Reads JSON into an empty message, as protobuf maps one to the other
// (https://protobuf.dev/programming-guides/json). INVALID_ARGUMENT names the
// field that is unknown, given twice, or has a wrong value. Messages of
// google.protobuf, which have forms of their own in JSON, must not occur.
//
// Protobuf's own reader takes more than JSON, the last value of a field that is
// given twice, and says of a wrong value of an enumeration that there is no
// such field.
absl::Status ParseJsonMessage(absl::string_view json,
                              google::protobuf::Message& message);

}  // namespace attend

#endif  // ATTEND_SERVER_CONNECT_JSON_MESSAGE_H_
