#include "engine/tokenizer/text/refused_classes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

struct RefusedClasses {
  absl::string_view names;  // without "Tokenizer"
  absl::string_view reason;
};

// M2M100Tokenizer and MarianTokenizer are of Python, too, but their tokenizers
// are known: see LoadTokenizer().
constexpr RefusedClasses kRefused[] = {
    {"Bartpho BertGeneration BertJapanese Bertweet BioGpt BlenderbotSmall ByT5 "
     "CTRL Canine Clvp CpmAnt Dia Esm FSMT FastSpeech2Conformer Flaubert "
     "GPTNeoXJapanese GPTSw3 Mgpstr MyT5 PLBart Perceiver Phobert Pop2Piano "
     "ProphetNet Rag RoCBert Siglip Speech2Text SpeechT5 Tapas Vits "
     "Wav2Vec2CTC Wav2Vec2PhonemeCTC XLM",
     "reads other files"},
    {"Cpm RoFormer", "cuts text by the Python package rjieba"},
    {"LayoutLMv2 LayoutLMv3 LayoutXLM Udop", "takes words with their boxes"},
    {"MarkupLM", "takes nodes of HTML"},
    {"Lasr Parakeet SeamlessM4T Whisper", "is one of speech"},
    {"Esmc", "has a vocabulary of its own"},
};

}  // namespace

absl::string_view RefusalOf(absl::string_view tokenizer_class) {
  for (const RefusedClasses& row : kRefused) {
    for (const absl::string_view name : absl::StrSplit(row.names, ' ')) {
      if (tokenizer_class == absl::StrCat(name, "Tokenizer")) return row.reason;
    }
  }
  return "";
}

absl::Status CheckTakesFile(const std::string& path,
                            absl::string_view tokenizer_class) {
  const absl::string_view reason = RefusalOf(tokenizer_class);
  if (reason.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": the tokenizer's class is ", tokenizer_class, ", which ", reason,
      " in transformers 5.23; to have the ids of this file, ",
      "let tokenizer_class of tokenizer_config.json be ",
      "PreTrainedTokenizerFast, and without the file the model takes token "
      "ids"));
}

}  // namespace attend
