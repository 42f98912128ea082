#ifndef ATTEND_SERVER_INFERENCE_SOURCES_H_
#define ATTEND_SERVER_INFERENCE_SOURCES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "server/inference/request_reader.h"
#include "server/service/service.h"

namespace attend {

// The tensors that inputs come in; the name of one that is not taken is empty.
struct SourceTensors {
  absl::string_view text;     // BYTES [n] or [n, 1]
  absl::string_view ids;      // integers [n, length]
  absl::string_view lengths;  // of rows of ids: integers [n] or [n, 1]
  absl::string_view mask;     // of ids: integers or BOOL [n, length]
  absl::string_view types;    // of ids: integers [n, length]
  absl::string_view pair;     // beside a text: BYTES as the text
  absl::string_view chat;     // BYTES as the text: attend.v1.Chat as JSON
};
inline constexpr SourceTensors kSource = {.text = "text_input",
                                          .ids = "input_ids",
                                          .lengths = "sequence_lengths",
                                          .mask = "attention_mask",
                                          .types = "token_type_ids",
                                          .pair = "",
                                          .chat = ""};

// Takes the inputs of a request from one of text, ids and chat. Ids are cut at
// their lengths. Where the model continues its source, masked ids are left out:
// transformers gives the others the positions that they have then.
// INVALID_ARGUMENT names the tensor.
absl::StatusOr<std::vector<v1::Input>> TakeSources(const SourceTensors& names,
                                                   const Service& service,
                                                   const ServedModel& model,
                                                   RequestReader& reader);

// Takes a tensor of texts, BYTES [n] or [n, 1]. INVALID_ARGUMENT also if it is
// not there.
absl::StatusOr<std::vector<std::string>> TakeTexts(absl::string_view name,
                                                   const Service& service,
                                                   RequestReader& reader);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_SOURCES_H_
