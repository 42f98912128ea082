#ifndef ATTEND_CLIENT_CPP_LIB_UTF8_H_
#define ATTEND_CLIENT_CPP_LIB_UTF8_H_

#include <string_view>

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"

namespace attend {

// True for well-formed UTF-8: no overlong form, surrogate, or value above
// U+10FFFF.
bool IsUtf8(std::string_view text);

// INVALID_ARGUMENT naming the first field that holds text which is not UTF-8.
// Without this protobuf writes such text all the same, and the server cannot
// read the whole request: one bad input would take its neighbours along.
absl::Status CheckText(const v1::GenerateRequest& request);
absl::Status CheckText(const v1::ScoreRequest& request);
absl::Status CheckText(const v1::EmbedRequest& request);
absl::Status CheckText(const v1::ClassifyRequest& request);
absl::Status CheckText(const v1::FillMaskRequest& request);
absl::Status CheckText(const v1::RerankRequest& request);
absl::Status CheckText(const v1::TokenizeRequest& request);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_UTF8_H_
