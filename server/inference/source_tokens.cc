#include "server/inference/source_tokens.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "server/inference/token_tensors.h"

namespace attend {

void WriteSourceTokens(const SourceTokenRows& rows, OutputTensors& outputs) {
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  std::vector<int32_t> counts;
  PaddedRows<int32_t> ids(rows.size(), width, kNoId);
  PaddedRows<int32_t> begins(rows.size(), width, kNoId);
  PaddedRows<int32_t> ends(rows.size(), width, kNoId);
  for (size_t r = 0; r < rows.size(); ++r) {
    counts.push_back(static_cast<int32_t>(rows[r].size()));
    for (size_t i = 0; i < rows[r].size(); ++i) {
      ids.At(r, i) = rows[r][i]->id();
      begins.At(r, i) = rows[r][i]->begin();
      ends.At(r, i) = rows[r][i]->end();
    }
  }
  const auto inputs = static_cast<int64_t>(rows.size());
  const Shape shape = {inputs, static_cast<int64_t>(width)};
  outputs.Add("token_count", {inputs, 1}, counts);
  outputs.Add("token_ids", shape, ids.values());
  outputs.Add("token_begin", shape, begins.values());
  outputs.Add("token_end", shape, ends.values());
}

}  // namespace attend
