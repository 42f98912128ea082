#include "engine/runtime/token_words.h"

#include <algorithm>

namespace attend {
namespace {

// The token that queries are filled up with: the one that the files name, the
// mask, or the token that ends a text. 0 if there is none of them.
int ExpansionId(const std::string& word, const Tokenizer& tokenizer) {
  if (!word.empty()) {
    return std::max(tokenizer.TokenId(word, Side::kSource), 0);
  }
  if (tokenizer.mask_id() >= 0) return tokenizer.mask_id();
  for (const char* end : {"</s>", "[SEP]", "<eos>", "<|endoftext|>"}) {
    const int id = tokenizer.TokenId(end, Side::kSource);
    if (id >= 0) return id;
  }
  return 0;
}

}  // namespace

std::vector<int> IdsOf(const std::vector<std::string>& words,
                       const Tokenizer& tokenizer) {
  std::vector<int> ids;
  ids.reserve(words.size());
  for (const std::string& word : words) {
    const int id = tokenizer.TokenId(word, Side::kSource);
    if (id >= 0) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

TokenVectorsInfo ToIds(const TokenVectorsWords& words,
                       const Tokenizer& tokenizer) {
  TokenVectorsInfo info;
  info.first = words.first;
  info.query_tokens = words.query_tokens;
  info.document_tokens = words.document_tokens;
  info.expanded_tokens = words.expanded_tokens;
  if (words.expanded_tokens > 0) {
    info.expansion_id = ExpansionId(words.expansion_token, tokenizer);
  }
  info.expansion_attended = words.expansion_attended;
  info.skipped_ids = IdsOf(words.skipped, tokenizer);
  return info;
}

}  // namespace attend
