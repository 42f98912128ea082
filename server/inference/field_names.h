#ifndef ATTEND_SERVER_INFERENCE_FIELD_NAMES_H_
#define ATTEND_SERVER_INFERENCE_FIELD_NAMES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace attend {

// The status of a request of attend.v1 for a client that sent tensors and
// parameters: fields are called as the client calls them. "inputs[2].text" is
// "text_input[2]", and "params.top_k" is "top_k". Payloads stay.
absl::Status WithTensorNames(const absl::Status& status);
// The message of such a status, likewise.
std::string WithTensorNames(absl::string_view message);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_FIELD_NAMES_H_
