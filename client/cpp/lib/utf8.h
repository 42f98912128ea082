#ifndef ATTEND_CLIENT_CPP_LIB_UTF8_H_
#define ATTEND_CLIENT_CPP_LIB_UTF8_H_

#include <google/protobuf/message.h>

#include <string_view>

#include "absl/status/status.h"

namespace attend {

// True if the text is well-formed UTF-8: without overlong forms, surrogates and
// values above U+10FFFF.
bool IsUtf8(std::string_view text);

// INVALID_ARGUMENT if a string of `request`, or of a message inside, is not
// UTF-8. The error names the first such field ("inputs[0].text"). Without this
// check protobuf would send the string, and the server would refuse the whole
// request, because it cannot parse it.
absl::Status CheckText(const google::protobuf::Message& request);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_UTF8_H_
