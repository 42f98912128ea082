#ifndef ATTEND_SERVER_GRPC_INPUTS_H_
#define ATTEND_SERVER_GRPC_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "engine/engine.h"
#include "engine/tokenizer/tokenizer.h"

namespace attend {

// Token ids of a request, each in [0, vocab); `field` names them in errors.
absl::StatusOr<std::vector<int>> ReadIds(
    const google::protobuf::RepeatedField<int>& ids, int vocab,
    absl::string_view field);

// Tokens of a request without a mask: a mask is an error here.
absl::StatusOr<std::vector<int>> ReadTokens(const v1::Tokens& tokens, int vocab,
                                            absl::string_view field);

struct Source {
  SourceTokens tokens;
  bool truncated = false;
  bool empty = false;  // nothing but special tokens
};

// The source of one input: tokenised, or token ids with those masked left out
// and the others at their positions. Over-long: INVALID_ARGUMENT, or if
// `truncate` cut to the model's max_source_tokens with the final special
// tokens kept.
absl::StatusOr<Source> ReadSource(const v1::Input& input, bool truncate,
                                  const ModelInfo& model,
                                  const Tokenizer& tokenizer,
                                  absl::string_view field);

// The target of a score: text gets the end of sequence, ids nothing.
absl::StatusOr<std::vector<int>> ReadTarget(const v1::Input& input,
                                            const ModelInfo& model,
                                            const Tokenizer& tokenizer,
                                            absl::string_view field);

// `status` with "field: " before its message.
absl::Status Annotate(const absl::Status& status, absl::string_view field);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_INPUTS_H_
