#ifndef ATTEND_SERVER_CONNECT_JSON_SCALAR_H_
#define ATTEND_SERVER_CONNECT_JSON_SCALAR_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <variant>

namespace attend {

// A value in JSON that is no list, no object and not null.
using JsonScalar = std::variant<bool, int64_t, uint64_t, double, std::string>;

// Returns true for a google.protobuf.Duration: in JSON a string, "1.5s".
bool IsDuration(const google::protobuf::FieldDescriptor& field);

// Describes a value of the field in JSON: "an integer in [0, 255]".
std::string ExpectedJson(const google::protobuf::FieldDescriptor& field);

// Sets the field, or adds an entry to it if it is a list. False: the field
// cannot have this value.
bool SetScalar(google::protobuf::Message& message,
               const google::protobuf::FieldDescriptor& field,
               const JsonScalar& value);

}  // namespace attend

#endif  // ATTEND_SERVER_CONNECT_JSON_SCALAR_H_
