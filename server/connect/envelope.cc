#include "server/connect/envelope.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

constexpr size_t kHeadBytes = 5;

uint32_t LengthOf(absl::string_view head) {
  uint32_t length = 0;
  for (const char c : head.substr(1, 4)) {
    length = length << 8 | static_cast<uint8_t>(c);
  }
  return length;
}

}  // namespace

void AppendEnvelope(uint8_t flags, absl::string_view payload,
                    std::string& text) {
  text.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) {
    text.push_back(static_cast<char>(payload.size() >> shift));
  }
  text.append(payload.data(), payload.size());
}

absl::StatusOr<absl::string_view> OpenEnvelope(absl::string_view body) {
  if (body.size() < kHeadBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the body has ", body.size(),
                     " bytes, must be an envelope of at least ", kHeadBytes));
  }
  if (body[0] != kMessageFlags) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the envelope has the flags ", static_cast<uint8_t>(body[0]),
        ", must be 0: a message that is not compressed"));
  }
  const absl::string_view rest = body.substr(kHeadBytes);
  if (rest.size() != LengthOf(body)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the envelope says ", LengthOf(body), " bytes, but ",
                     rest.size(), " follow; a call has one message"));
  }
  return rest;
}

}  // namespace attend
