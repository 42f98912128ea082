#include "engine/decoding/force_words.h"

#include <algorithm>

namespace attend {

ForceWords::ForceWords(const GenerationParams& params)
    : words_(params.force_words) {
  for (const Word& word : words_) longest_ = std::max(longest_, Longest(word));
}

int ForceWords::Longest(const Word& word) {
  size_t longest = 0;
  for (const std::vector<int>& tokens : word) {
    longest = std::max(longest, tokens.size());
  }
  return static_cast<int>(longest);
}

WordProgress ForceWords::Begin() const {
  WordProgress progress;
  progress.num_pending = static_cast<int>(words_.size());
  for (int i = 0; i < progress.num_pending; ++i) {
    progress.pending[i] = static_cast<uint8_t>(i);
  }
  return progress;
}

int ForceWords::Continue(const Word& word, int alternative, int depth,
                         int token) {
  const std::vector<int>& begun = word[alternative];
  for (size_t i = 0; i < word.size(); ++i) {
    if (static_cast<int>(word[i].size()) > depth && word[i][depth] == token &&
        std::equal(begun.begin(), begun.begin() + depth, word[i].begin())) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

void ForceWords::Step(int word, int alternative, int depth,
                      WordProgress& progress) const {
  if (depth == static_cast<int>(words_[word][alternative].size())) {
    ++progress.complete;
    progress.begun = -1;
    return;
  }
  progress.begun = word;
  progress.alternative = alternative;
  progress.depth = depth;
}

void ForceWords::Add(int token, WordProgress& progress) const {
  if (progress.begun >= 0) {
    const int word = progress.begun;
    const int next =
        Continue(words_[word], progress.alternative, progress.depth, token);
    if (next >= 0) return Step(word, next, progress.depth + 1, progress);
    progress.pending[progress.num_pending++] = static_cast<uint8_t>(word);
    progress.begun = -1;
    return;
  }
  for (int i = 0; i < progress.num_pending; ++i) {
    const int word = progress.pending[i];
    const int first = Continue(words_[word], 0, 0, token);
    if (first < 0) continue;
    std::copy(progress.pending.begin() + i + 1,
              progress.pending.begin() + progress.num_pending,
              progress.pending.begin() + i);
    --progress.num_pending;
    return Step(word, first, 1, progress);
  }
}

int ForceWords::Bank(const WordProgress& progress) const {
  const int whole = progress.complete * longest_;
  if (progress.begun < 0) return whole;
  const int left = Longest(words_[progress.begun]) - progress.depth;
  return whole + longest_ - left;
}

void ForceWords::Next(const WordProgress& progress,
                      std::vector<int>& tokens) const {
  const auto add = [&](const Word& word, int alternative, int depth) {
    const std::vector<int>& begun = word[alternative];
    for (size_t i = 0; i < word.size(); ++i) {
      if (static_cast<int>(word[i].size()) <= depth ||
          !std::equal(begun.begin(), begun.begin() + depth, word[i].begin()) ||
          Continue(word, alternative, depth, word[i][depth]) !=
              static_cast<int>(i)) {
        continue;
      }
      tokens.push_back(word[i][depth]);
    }
  };
  if (progress.begun >= 0) {
    return add(words_[progress.begun], progress.alternative, progress.depth);
  }
  for (int i = 0; i < progress.num_pending; ++i) {
    add(words_[progress.pending[i]], 0, 0);
  }
}

}  // namespace attend
