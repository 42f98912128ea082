#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_FILE_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// The contents of a SentencePiece model file, checked. The format is
// spm_model.proto. Attend reads the file itself, because a process cannot link
// both libsentencepiece and libprotobuf on Debian 12: libsentencepiece exports
// the symbols of another version of libprotobuf.
struct SpmFile {
  enum class Type {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6,
  };
  struct Piece {
    std::string text;  // UTF-8, not empty, unique
    float score = 0;   // finite
    Type type = Type::kNormal;
  };

  // How text is segmented: unigram (Kudo 2018) or byte-pair merges (Sennrich et
  // al. 2016).
  enum class Model { kUnigram = 1, kBpe = 2 };

  Model model = Model::kUnigram;
  std::vector<Piece> pieces;  // exactly one is kUnknown
  int unknown_id = 0;
  std::string unknown_surface = " \xe2\x81\x87 ";
  std::string bos, eos;        // pieces around a text; "": none
  bool byte_fallback = false;  // then all 256 byte pieces exist
  bool space_is_suffix = false;
  // The normaliser: a double-array trie, and the strings that it points to.
  std::string charsmap;
  bool add_dummy_prefix = true;
  bool remove_extra_spaces = true;
  bool escape_spaces = true;
};

// INVALID_ARGUMENT names `path` and what is wrong: the file is truncated, is
// not a SentencePiece model, is above 16 MiB, or has an unsupported kind of
// model. A field with the wrong type counts as absent, as in SentencePiece.
absl::StatusOr<SpmFile> ParseSpmFile(const std::string& path,
                                     absl::string_view bytes);

// Checks what is said of pieces above, for a file that was made of something
// else, and finds the unknown one. INVALID_ARGUMENT names `path` and the piece.
absl::Status CheckSpmPieces(const std::string& path, SpmFile& file);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_FILE_H_
