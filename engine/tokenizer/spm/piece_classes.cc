#include "engine/tokenizer/spm/piece_classes.h"

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

using Model = PieceClass::Model;
using Order = PieceClass::Order;

constexpr char kGoogle[] = "spiece.model";
constexpr char kFairseq[] = "sentencepiece.bpe.model";
constexpr char kLlama[] = "tokenizer.model";

constexpr PieceClass kClasses[] = {
    {"T5 Pegasus", kGoogle},
    {"MBart MBart50 XLMRoberta", kFairseq},
    {"Albert BigBird XLNet", kGoogle, Model::kUnigram},
    // It has no constructor of its own.
    {"FNet", kGoogle, Model::kOfFile},
    {"Reformer", kGoogle, Model::kBpe},
    {"Barthez", kFairseq, Model::kUnigram},
    {"Camembert", kFairseq, Model::kUnigram, Order::kCamembert},
    {"DebertaV2", "spm.model", Model::kUnigram},
    {"RemBert", "sentencepiece.model", Model::kUnigram},
    {"CodeLlama Gemma Llama Siglip2 Tipsv2", kLlama, Model::kBpe},
};

constexpr PieceClass kPlain = {"", kLlama, Model::kOfFile};

}  // namespace

const PieceClass* FindPieceClass(absl::string_view tokenizer_class) {
  if (!absl::ConsumeSuffix(&tokenizer_class, "Tokenizer")) return nullptr;
  for (const PieceClass& row : kClasses) {
    for (const absl::string_view name : absl::StrSplit(row.names, ' ')) {
      if (name == tokenizer_class) return &row;
    }
  }
  return nullptr;
}

const PieceClass& PlainPieceClass() { return kPlain; }

}  // namespace attend
