#ifndef ATTEND_CLIENT_CPP_LIB_UTF8_H_
#define ATTEND_CLIENT_CPP_LIB_UTF8_H_

#include <google/protobuf/message.h>

#include <string_view>

#include "absl/status/status.h"

namespace attend {

// True for well-formed UTF-8: no overlong form, surrogate, or value above
// U+10FFFF.
bool IsUtf8(std::string_view text);

// INVALID_ARGUMENT naming the first field, of messages inside too, that holds
// text which is not UTF-8 ("inputs[0].text"). Without this protobuf writes such
// text all the same, and the server cannot read the whole request: one bad
// input would take its neighbours along.
absl::Status CheckText(const google::protobuf::Message& request);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_UTF8_H_
