#include "engine/tokenizer/text/encoding.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace attend {
namespace {

// `sizes` are the tokens of a text and its pair. Reduces them so that they sum
// to at most `room`.
void ShareRoom(int room, OddToken odd, int (&sizes)[2]) {
  const int shorter = sizes[1] < sizes[0] ? 1 : 0;
  const int half = room / 2;
  if (sizes[0] + sizes[1] <= room) return;
  if (sizes[shorter] <= half) {
    sizes[1 - shorter] = room - sizes[shorter];
    return;
  }
  const int smaller = odd == OddToken::kOfText ? 1 : shorter;
  sizes[smaller] = half;
  sizes[1 - smaller] = room - half;
}

}  // namespace

void Truncate(int max_tokens, TruncationSide side, Encoding& encoding,
              OddToken odd, PairCut cut) {
  const int size = static_cast<int>(encoding.ids.size());
  int(&present)[2] = encoding.text_tokens;
  std::fill(std::begin(present), std::end(present), 0);
  for (const TokenOrigin& origin : encoding.origins) {
    if (origin.text >= 0) ++present[origin.text];
  }
  if (max_tokens == 0 || size <= max_tokens) return;
  const int special = size - present[0] - present[1];
  const int room = std::max(max_tokens - special, 0);
  int kept[2] = {present[0], present[1]};
  if (cut == PairCut::kTextOnly) {
    kept[0] = room - present[1];
    if (kept[0] < 1) return;
  } else {
    ShareRoom(room, odd, kept);
  }
  encoding.truncated = true;
  int seen[2] = {0, 0};
  int out = 0;
  for (int i = 0; i < size && out < max_tokens; ++i) {
    const int text = encoding.origins[i].text;
    if (text >= 0) {
      const int at = seen[text]++;
      const int from =
          side == TruncationSide::kRight ? 0 : present[text] - kept[text];
      if (at < from || at >= from + kept[text]) continue;
    }
    encoding.ids[out] = encoding.ids[i];
    encoding.types[out] = encoding.types[i];
    encoding.origins[out] = encoding.origins[i];
    ++out;
  }
  encoding.ids.resize(out);
  encoding.types.resize(out);
  encoding.origins.resize(out);
}

}  // namespace attend
