#include "server/documents/glossary.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "server/documents/hidden_characters.h"

namespace attend {
namespace {

absl::string_view Slice(absl::string_view text, TextRange range) {
  return text.substr(range.begin, range.size());
}

}  // namespace

bool Glossary::Add(absl::string_view term, absl::string_view target) {
  const std::string source = WithoutHidden(term);
  const std::vector<Word> words = Words(source);
  if (words.empty() || words.size() > kMostWords) return false;
  Node* node = &root_;
  bool any_case = true;
  std::vector<std::string> written;
  for (const Word& word : words) {
    written.push_back(Compose(Slice(source, word.range)));
    any_case &= !HasCapital(written.back());
    node = &node->next[FoldCase(written.back())];
  }
  if (any_case) written.clear();
  node->ends = true;
  node->words = std::move(written);
  node->target = std::string(target);
  return true;
}

std::vector<Glossary::Match> Glossary::Find(absl::string_view text) const {
  std::vector<Match> matches;
  if (empty()) return matches;
  const std::vector<Word> words = Words(text);
  std::vector<std::string> folded;
  folded.reserve(words.size());
  for (const Word& word : words) {
    folded.push_back(FoldCase(Slice(text, word.range)));
  }
  for (size_t first = 0; first < words.size();) {
    size_t after = first + 1;
    Match match;
    const Node* node = &root_;
    for (size_t i = first; i < words.size(); ++i) {
      const auto next = node->next.find(folded[i]);
      if (next == node->next.end()) break;
      node = &next->second;
      const bool as_written = std::equal(
          node->words.begin(), node->words.end(), words.begin() + first,
          [&](const std::string& wanted, const Word& word) {
            return wanted == Compose(Slice(text, word.range));
          });
      if (!node->ends || !as_written) continue;
      match = {{words[first].range.begin, words[i].range.end}, &node->target};
      after = i + 1;
    }
    if (match.target != nullptr) matches.push_back(match);
    first = after;
  }
  return matches;
}

}  // namespace attend
