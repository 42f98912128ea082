// A SentencePiece model, and texts that are cut by it.
#include "engine/tokenizer/spm/sentence_piece.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

// Letters, spaces of all kinds, combining characters, an emoji of several.
constexpr absl::string_view kTexts[] = {
    "", " ", "a", "  Hello  world, aaaaaaaaaaaaaaaa ",
    "\xe2\x96\x81x\xef\xbc\xa1\xe3\x80\x80\xcc\x81\xc3\xa9 \xe2\x80\x8d"
    "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 \n\t<unk><s></s>"};

void CheckPieces(const SentencePiece& model, absl::string_view text) {
  int last = 0;
  std::vector<std::string> texts;
  for (const SentencePiece::Piece& piece : model.Encode(text)) {
    // In order, and inside of the text.
    ATTEND_CHECK(piece.begin >= 0 && piece.begin <= piece.end);
    ATTEND_CHECK(piece.end <= static_cast<int>(text.size()));
    ATTEND_CHECK(piece.end >= last);
    last = piece.end;
    texts.push_back(piece.text);
    model.PieceText(piece.text);
  }
  model.Decode(std::vector<absl::string_view>(texts.begin(), texts.end()));
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  const std::string path = directory.Write("f.spm", View(data, size));
  const auto model = SentencePiece::Load(path);
  if (!Accepted(model.status(), "f.spm")) return 0;
  for (const absl::string_view text : kTexts) CheckPieces(*model, text);
  return 0;
}
