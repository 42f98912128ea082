#ifndef ATTEND_ENGINE_TOKENIZER_SPM_PIECE_CLASSES_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_PIECE_CLASSES_H_

#include "absl/strings/string_view.h"

namespace attend {

// A tokenizer class of transformers 5.23 that is built of a SentencePiece
// model.
struct PieceClass {
  absl::string_view names;  // without "Tokenizer"
  absl::string_view file;   // the name of the model's file
  enum class Model {
    kOwn,      // SpmRules has the vocabulary
    kUnigram,  // pieces with scores
    kBpe,      // pieces with the merges that they imply
    kOfFile,   // what the file says; nothing cuts texts before the model
  } model = Model::kOwn;
  enum class Order {
    kOfFile,
    kCamembert,  // own tokens instead of the first piece, and the mask last
  } order = Order::kOfFile;
};

// The row of a class; null if it is not built of such a model.
const PieceClass* FindPieceClass(absl::string_view tokenizer_class);
// The row of a class that takes any model as it is: TokenizersBackend.
const PieceClass& PlainPieceClass();

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_PIECE_CLASSES_H_
