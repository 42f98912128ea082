#ifndef ATTEND_CLIENT_CPP_CLI_MESSAGES_H_
#define ATTEND_CLIENT_CPP_CLI_MESSAGES_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"

namespace attend {

// Messages of the API, made from text and shown as text.

// Adds the token ids of a line to `tokens`. Spaces, tabs or commas separate
// them. INVALID_ARGUMENT names the first word that is no id.
absl::Status ParseIds(absl::string_view line, v1::Tokens& tokens);

// The status of an input. Its code is that of google.rpc.Code.
absl::Status ToAbslStatus(const v1::Status& status);

// The message as JSON on one line, with a newline at its end.
std::string ToJsonLine(const google::protobuf::Message& message);

// A line "  log-probability  piece" for each token.
std::string ToLines(
    const google::protobuf::RepeatedPtrField<v1::TokenLogProbs>& tokens);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_MESSAGES_H_
