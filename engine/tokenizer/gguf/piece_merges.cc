#include "engine/tokenizer/gguf/piece_merges.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

struct Merge {
  float score;
  int left_chars;
  int right_chars;
  int left;  // ids
  int right;
};

// The characters of a text end at these bytes.
std::vector<size_t> CharEnds(absl::string_view text) {
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size();) {
    at += FirstUtf8Char(text.substr(at)).length;
    ends.push_back(at);
  }
  return ends;
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> PieceMerges(
    const JsonFile& metadata, const GgufVocabulary& vocabulary,
    absl::Span<const float> scores) {
  const std::vector<std::string>& pieces = vocabulary.tokens;
  absl::flat_hash_map<absl::string_view, int> ids;
  for (size_t id = 0; id < pieces.size(); ++id) {
    ids[pieces[id]] = static_cast<int>(id);
  }
  std::vector<Merge> merges;
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (vocabulary.type(id) != GgufVocabulary::Type::kNormal) continue;
    const absl::string_view piece = pieces[id];
    if (piece.size() > kMaxPieceBytes) {
      return metadata.Unexpected(
          "tokenizer.ggml.tokens",
          absl::StrCat("at most ", kMaxPieceBytes, " bytes in a piece, but ",
                       "that of id ", id, " has ", piece.size()));
    }
    const std::vector<size_t> ends = CharEnds(piece);
    const int chars = static_cast<int>(ends.size());
    const size_t first = merges.size();
    for (int left = 1; left < chars; ++left) {
      const auto a = ids.find(piece.substr(0, ends[left - 1]));
      if (a == ids.end()) continue;
      const auto b = ids.find(piece.substr(ends[left - 1]));
      if (b == ids.end()) continue;
      merges.push_back({scores[id], left, chars - left, a->second, b->second});
    }
    std::sort(merges.begin() + first, merges.end(),
              [](const Merge& a, const Merge& b) {
                return std::tie(a.left, a.right) < std::tie(b.left, b.right);
              });
  }
  std::stable_sort(merges.begin(), merges.end(),
                   [](const Merge& a, const Merge& b) {
                     return std::tie(a.score, a.left_chars, a.right_chars) >
                            std::tie(b.score, b.left_chars, b.right_chars);
                   });
  std::vector<std::pair<std::string, std::string>> texts;
  texts.reserve(merges.size());
  for (const Merge& merge : merges) {
    texts.emplace_back(pieces[merge.left], pieces[merge.right]);
  }
  return texts;
}

}  // namespace attend
