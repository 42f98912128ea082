#include <algorithm>
#include <queue>

#include "engine/tokenizer/spm/sentence_piece.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// A run of characters. The runs are a linked list in the order of the text.
struct Run {
  int begin = 0;
  int end = 0;  // begin: it went into the run before it
  int before = -1;
  int after = -1;
  bool fixed = false;  // a user-defined symbol
};

// Two neighbouring runs that are a piece together.
struct Pair {
  float score = 0;
  int left = 0;  // runs
  int right = 0;
  int end = 0;  // of the right one

  // Orders by score; of equal scores the leftmost pair is better.
  bool operator<(const Pair& other) const {
    if (score != other.score) return score < other.score;
    return left > other.left;
  }
};

}  // namespace

std::vector<SentencePiece::Cut> SentencePiece::MergePairs(
    absl::string_view text) const {
  std::vector<Run> runs;
  for (int begin = 0; begin < static_cast<int>(text.size());) {
    const absl::string_view rest = text.substr(begin);
    const int symbol = static_cast<int>(normalizer_.SymbolAt(rest).size());
    const int end =
        begin + (symbol > 0 ? symbol : std::max(FirstUtf8Char(rest).length, 1));
    const int at = static_cast<int>(runs.size());
    runs.push_back({begin, end, at - 1, at + 1, symbol > 0});
    begin = end;
  }
  if (runs.empty()) return {};
  runs.back().after = -1;

  const auto find = [&](int begin, int end) {
    return FindIn(matched_, text.substr(begin, end - begin));
  };
  std::priority_queue<Pair> pairs;
  const auto offer = [&](int left, int right) {
    if (left < 0 || right < 0 || runs[left].fixed || runs[right].fixed) return;
    const int id = find(runs[left].begin, runs[right].end);
    if (id < 0) return;
    pairs.push({file_.pieces[id].score, left, right, runs[right].end});
  };
  for (int at = 1; at < static_cast<int>(runs.size()); ++at) offer(at - 1, at);
  while (!pairs.empty()) {
    const Pair pair = pairs.top();
    pairs.pop();
    Run& left = runs[pair.left];
    Run& right = runs[pair.right];
    // Skips a pair if one of its runs was merged or has grown meanwhile.
    if (left.begin == left.end || left.after != pair.right ||
        right.end != pair.end) {
      continue;
    }
    left.end = right.end;
    left.after = right.after;
    right.begin = right.end;
    if (left.after >= 0) runs[left.after].before = pair.left;
    offer(left.before, pair.left);
    offer(pair.left, left.after);
  }

  std::vector<Cut> cuts;
  for (int at = 0; at >= 0; at = runs[at].after) {
    const Run& run = runs[at];
    const int id = find(run.begin, run.end);
    cuts.push_back({run.begin, run.end, id < 0 ? file_.unknown_id : id});
  }
  return cuts;
}

}  // namespace attend
