#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_FILE_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// What a SentencePiece model file says, checked. The format is spm_model.proto.
// SentencePiece's own library does not read it, because a process cannot link
// both libsentencepiece and libprotobuf where, as on Debian 12, the former
// exports another version of the latter's symbols.
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

  // How text is cut: unigram (Kudo 2018), byte-pair merges (Sennrich 2016).
  enum class Model { kUnigram = 1, kBpe = 2 };

  Model model = Model::kUnigram;
  std::vector<Piece> pieces;  // exactly one is kUnknown
  int unknown_id = 0;
  std::string unknown_surface = " \xe2\x81\x87 ";
  bool byte_fallback = false;  // then all 256 byte pieces exist
  bool space_is_suffix = false;
  // Of the normaliser.
  std::string charsmap;  // double-array trie and the strings that it points to
  bool add_dummy_prefix = true;
  bool remove_extra_spaces = true;
  bool escape_spaces = true;
};

// INVALID_ARGUMENT names `path` and what is wrong: a cut or foreign file, one
// of more than 16 MiB, another kind of model. A field of a type that is not its
// own counts as absent, as for SentencePiece.
absl::StatusOr<SpmFile> ParseSpmFile(const std::string& path,
                                     absl::string_view bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_FILE_H_
