#include "engine/tokenizer/spm/sentence_piece.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// An unknown character costs this much more than the least probable piece.
constexpr float kUnknownPenalty = 10;

// The byte of "<0xE2>".
char ByteOf(absl::string_view piece) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  return static_cast<char>(digit(piece[3]) * 16 + digit(piece[4]));
}

}  // namespace

absl::StatusOr<SentencePiece> SentencePiece::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  ASSIGN_OR_RETURN(SpmFile file, ParseSpmFile(path, bytes));
  ASSIGN_OR_RETURN(SpmNormalizer normalizer, SpmNormalizer::Create(path, file));
  return SentencePiece(std::move(file), std::move(normalizer));
}

SentencePiece::SentencePiece(SpmFile file, SpmNormalizer normalizer)
    : file_(std::move(file)), normalizer_(std::move(normalizer)) {
  min_score_ = std::numeric_limits<float>::max();
  // Not lowest(): SentencePiece starts with the smallest number above zero.
  max_score_ = std::numeric_limits<float>::min();
  for (int id = 0; id < static_cast<int>(file_.pieces.size()); ++id) {
    const SpmFile::Piece& piece = file_.pieces[id];
    sorted_.push_back(id);
    if (piece.type != SpmFile::Type::kNormal) continue;
    min_score_ = std::min(min_score_, piece.score);
    max_score_ = std::max(max_score_, piece.score);
  }
  std::sort(sorted_.begin(), sorted_.end(), [&](int a, int b) {
    return file_.pieces[a].text < file_.pieces[b].text;
  });
  for (const int id : sorted_) {
    const SpmFile::Type type = file_.pieces[id].type;
    if (type == SpmFile::Type::kNormal || type == SpmFile::Type::kUserDefined) {
      matched_.push_back(id);
    }
  }
}

int SentencePiece::FindIn(const std::vector<int>& by_text,
                          absl::string_view piece) const {
  const auto at = std::lower_bound(
      by_text.begin(), by_text.end(), piece,
      [&](int id, absl::string_view p) { return file_.pieces[id].text < p; });
  return at != by_text.end() && file_.pieces[*at].text == piece ? *at : -1;
}

int SentencePiece::Find(absl::string_view piece) const {
  const int id = FindIn(sorted_, piece);
  return id < 0 ? file_.unknown_id : id;
}

// The Viterbi algorithm over the pieces that match at each character. Element i
// is the last step of the best segmentation of text[0, i). Sums are in f32, and
// the first of equal sums stays, as in SentencePiece: so ties are broken alike.
std::vector<SentencePiece::Step> SentencePiece::BestSteps(
    absl::string_view text) const {
  std::vector<Step> best(text.size() + 1);
  const auto offer = [&](int begin, int end, int id, float sum) {
    Step& step = best[end];
    if (step.begin >= 0 && sum <= step.score) return;
    step = {begin, id, sum};
  };
  const int size = static_cast<int>(text.size());
  int length = 0;
  for (int begin = 0; begin < size; begin += length) {
    length = std::max(FirstUtf8Char(text.substr(begin)).length, 1);
    bool single = false;
    // The pieces that begin with text[begin, end), narrowed byte by byte.
    auto from = matched_.begin();
    auto to = matched_.end();
    for (int end = begin + 1; end <= size; ++end) {
      const size_t depth = end - begin - 1;
      const auto byte_at = [&](int id) {
        const std::string& t = file_.pieces[id].text;
        return depth < t.size() ? static_cast<unsigned char>(t[depth]) : -1;
      };
      const int byte = static_cast<unsigned char>(text[end - 1]);
      from = std::partition_point(from, to,
                                  [&](int id) { return byte_at(id) < byte; });
      to = std::partition_point(from, to,
                                [&](int id) { return byte_at(id) == byte; });
      if (from == to) break;
      const SpmFile::Piece& piece = file_.pieces[*from];
      if (piece.text.size() != depth + 1) continue;
      const int bytes = end - begin;
      // A user-defined symbol always wins.
      const float score =
          piece.type == SpmFile::Type::kUserDefined
              ? static_cast<float>(static_cast<double>(bytes * max_score_) -
                                   0.1)
              : piece.score;
      offer(begin, end, *from, score + best[begin].score);
      single |= bytes == length;
    }
    if (!single) {
      const float score = min_score_ - kUnknownPenalty;
      offer(begin, begin + length, file_.unknown_id, score + best[begin].score);
    }
  }
  return best;
}

std::vector<SentencePiece::Cut> SentencePiece::BestPath(
    absl::string_view text) const {
  const std::vector<Step> best = BestSteps(text);
  std::vector<Cut> cuts;
  for (int end = static_cast<int>(text.size()); end > 0;) {
    cuts.push_back({best[end].begin, end, best[end].id});
    end = best[end].begin;
  }
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

std::vector<SentencePiece::Piece> SentencePiece::Encode(
    absl::string_view text) const {
  const SpmNormalizer::Normalized normalized = normalizer_.Normalize(text);
  const absl::string_view all = normalized.text;
  std::vector<Piece> pieces;
  bool after_unknown = false;
  for (const Cut& cut :
       file_.model == SpmFile::Model::kBpe ? MergePairs(all) : BestPath(all)) {
    const absl::string_view piece = all.substr(cut.begin, cut.end - cut.begin);
    const bool unknown = cut.id == file_.unknown_id;
    const int from = normalized.origins[cut.begin];
    const int to = normalized.origins[cut.end];
    if (unknown && file_.byte_fallback) {
      for (const char c : piece) {
        pieces.push_back(
            {absl::StrFormat("<0x%02X>", static_cast<unsigned char>(c)), from,
             to});
      }
    } else if (unknown && after_unknown) {
      absl::StrAppend(&pieces.back().text, piece);
      pieces.back().end = to;
    } else {
      pieces.push_back({std::string(piece), from, to});
    }
    after_unknown = unknown;
  }
  return pieces;
}

std::string SentencePiece::PieceText(absl::string_view piece) const {
  const int id = Find(piece);
  const SpmFile::Piece& found = file_.pieces[id];
  switch (found.type) {
    case SpmFile::Type::kControl:
      return "";
    case SpmFile::Type::kByte:
      return std::string(1, ByteOf(piece));
    case SpmFile::Type::kUnknown:
      if (piece == found.text) return file_.unknown_surface;
      [[fallthrough]];
    default:
      return absl::StrReplaceAll(piece, {{kSpaceMark, " "}});
  }
}

std::string SentencePiece::Decode(
    absl::Span<const absl::string_view> pieces) const {
  std::string text;
  std::string bytes;
  bool at_start = true;  // where the mark of a dummy prefix is no space
  for (const absl::string_view piece : pieces) {
    const SpmFile::Type type = file_.pieces[Find(piece)].type;
    if (type == SpmFile::Type::kByte) {
      bytes += PieceText(piece);
      continue;
    }
    // A token without text does not separate the bytes of a character: so a
    // text is the same if it is decoded token by token.
    if (type == SpmFile::Type::kControl) continue;
    absl::StrAppend(&text, ReplaceInvalidUtf8(std::exchange(bytes, "")));
    at_start = at_start && text.empty();
    absl::string_view rest = piece;
    if (at_start && type != SpmFile::Type::kUnknown &&
        (file_.add_dummy_prefix || file_.remove_extra_spaces) &&
        absl::ConsumePrefix(&rest, kSpaceMark)) {
      // More marks are removed only if the model removes extra spaces.
      at_start = file_.remove_extra_spaces;
      absl::StrAppend(&text, absl::StrReplaceAll(rest, {{kSpaceMark, " "}}));
      continue;
    }
    absl::StrAppend(&text, PieceText(piece));
  }
  return absl::StrCat(text, ReplaceInvalidUtf8(bytes));
}

}  // namespace attend
