#ifndef ATTEND_SERVER_INFERENCE_SOURCE_TOKENS_H_
#define ATTEND_SERVER_INFERENCE_SOURCE_TOKENS_H_

#include <vector>

#include "attend/v1/attend.pb.h"
#include "server/inference/infer_task.h"
#include "server/inference/output_tensors.h"

namespace attend {

// Outputs that show tokens of sources: their number in each input, ids, and the
// places [begin, end) in bytes of the text. Rows are padded with -1.
inline constexpr TensorSpec kSourceTokenTensors[] = {
    {.name = "token_count", .datatype = "INT32", .shape = kColumn},
    {.name = "token_ids", .datatype = "INT32", .shape = kRows},
    {.name = "token_begin", .datatype = "INT32", .shape = kRows},
    {.name = "token_end", .datatype = "INT32", .shape = kRows},
};

// Tokens of each input. The messages must outlive the list.
using SourceTokenRows = std::vector<std::vector<const v1::SourceToken*>>;

void WriteSourceTokens(const SourceTokenRows& rows, OutputTensors& outputs);

// The same, of results with a field `source_tokens`.
template <class Results>
void WriteAlignedSources(const Results& results, OutputTensors& outputs) {
  SourceTokenRows rows;
  for (const auto& result : results) {
    auto& row = rows.emplace_back();
    for (const v1::SourceToken& token : result.source_tokens()) {
      row.push_back(&token);
    }
  }
  WriteSourceTokens(rows, outputs);
}

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_SOURCE_TOKENS_H_
