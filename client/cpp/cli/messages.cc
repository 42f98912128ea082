#include "client/cpp/cli/messages.h"

#include <google/protobuf/util/json_util.h>

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace attend {

absl::Status ParseIds(absl::string_view line, v1::Tokens& tokens) {
  for (const absl::string_view word :
       absl::StrSplit(line, absl::ByAnyChar(" ,\t"), absl::SkipEmpty())) {
    int32_t id = 0;
    if (!absl::SimpleAtoi(word, &id)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", word, "\" is not a token id"));
    }
    tokens.add_ids(id);
  }
  return absl::OkStatus();
}

absl::Status ToAbslStatus(const v1::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.code()),
                      status.message());
}

std::string ToJsonLine(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  // Fails only for unknown types in an Any; the API has no Any.
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
  json.push_back('\n');
  return json;
}

std::string ToLines(
    const google::protobuf::RepeatedPtrField<v1::TokenLogProbs>& tokens) {
  std::string lines;
  for (const v1::TokenLogProbs& entry : tokens) {
    absl::StrAppendFormat(&lines, "  %10.6f  %s\n", entry.token().log_prob(),
                          entry.token().piece());
  }
  return lines;
}

}  // namespace attend
