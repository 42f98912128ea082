#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SENTENCE_PIECE_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SENTENCE_PIECE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tokenizer/spm/spm_file.h"
#include "engine/tokenizer/spm/spm_normalizer.h"

namespace attend {

// A SentencePiece model (Kudo and Richardson 2018): text to pieces, as
// SentencePieceProcessor::Encode and Decode do it, to the id. (Not by Hugging
// Face's library: its normaliser joins combining characters to what it replaces
// and drops them, and it sums scores in f64, so that ties fall otherwise.)
// Const after Load(); any thread.
class SentencePiece {
 public:
  // NOT_FOUND or INVALID_ARGUMENT; names the file and what is wrong in it.
  static absl::StatusOr<SentencePiece> Load(const std::string& path);

  struct Piece {
    std::string text;
    int begin = 0;  // bytes of the original that it covers
    int end = 0;
  };
  // The segmentation of `text`, which must be UTF-8: the most probable one of a
  // unigram model, what the merges of a byte-pair model leave. Characters that
  // no piece has come as pieces of their own, a run of them as one. Where
  // user-defined symbols of a unigram model overlap, an exact tie may fall
  // otherwise than in the reference.
  std::vector<Piece> Encode(absl::string_view text) const;

  // The text of pieces, which need not be of this model.
  std::string Decode(absl::Span<const absl::string_view> pieces) const;

  // What one piece adds to text, a space mark being a space; of a byte piece
  // its byte, which may be a part of a character only.
  std::string PieceText(absl::string_view piece) const;

 private:
  SentencePiece(SpmFile file, SpmNormalizer normalizer);
  // The index in file_.pieces, of those in a list; -1 if none is like `piece`.
  int FindIn(const std::vector<int>& by_text, absl::string_view piece) const;
  // The same of all; the unknown piece's if there is no such piece.
  int Find(absl::string_view piece) const;
  struct Cut {  // a piece of the text, from byte to byte
    int begin = 0;
    int end = 0;
    int id = 0;  // the unknown piece's if no piece is like it
  };
  struct Step {  // the last piece of the best path to some place in the text
    int begin = -1;
    int id = 0;
    float score = 0;
  };
  std::vector<Step> BestSteps(absl::string_view text) const;
  std::vector<Cut> BestPath(absl::string_view text) const;    // unigram
  std::vector<Cut> MergePairs(absl::string_view text) const;  // byte pairs

  SpmFile file_;
  SpmNormalizer normalizer_;
  std::vector<int> sorted_;   // indices of all pieces, by text
  std::vector<int> matched_;  // those that text may match, by text
  float min_score_ = 0;       // over normal pieces
  float max_score_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SENTENCE_PIECE_H_
