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

// A SentencePiece model (Kudo and Richardson 2018): text to pieces and back,
// with the same ids as SentencePieceProcessor::Encode() and Decode(). (Hugging
// Face's library gives other ids: its normaliser drops combining characters
// after some characters that it replaces, and it sums scores in f64, which
// breaks ties differently.) Const after Load(); any thread may use it.
class SentencePiece {
 public:
  // NOT_FOUND or INVALID_ARGUMENT; names the file and what is wrong in it.
  static absl::StatusOr<SentencePiece> Load(const std::string& path);

  struct Piece {
    std::string text;
    int begin = 0;  // the piece covers bytes [begin, end) of the original text
    int end = 0;
  };
  // The pieces of `text`, which must be UTF-8: by a unigram model, the most
  // probable segmentation; by a byte-pair model, the result of its merges. A
  // run of characters that are in no piece is one piece. If user-defined
  // symbols of a unigram model overlap, an exact tie may be broken differently
  // than in SentencePiece.
  std::vector<Piece> Encode(absl::string_view text) const;

  // The text of pieces, which need not be of this model.
  std::string Decode(absl::Span<const absl::string_view> pieces) const;

  // The bytes that one piece adds to a text: a space mark adds a space; a byte
  // piece adds its byte, which may be only a part of a character.
  std::string PieceText(absl::string_view piece) const;

 private:
  SentencePiece(SpmFile file, SpmNormalizer normalizer);
  // The index in file_.pieces of the piece with this text, one of the indices
  // `by_text`, which are sorted by text; -1 if there is none.
  int FindIn(const std::vector<int>& by_text, absl::string_view piece) const;
  // The same among all pieces; the unknown piece if there is none.
  int Find(absl::string_view piece) const;
  struct Cut {  // bytes [begin, end) of the text are one piece
    int begin = 0;
    int end = 0;
    int id = 0;  // that of the unknown piece if no piece has this text
  };
  struct Step {  // the last piece of the best segmentation of text[0, i)
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
  std::vector<int> matched_;  // indices of pieces that match text, by text
  float min_score_ = 0;       // over normal pieces
  float max_score_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SENTENCE_PIECE_H_
