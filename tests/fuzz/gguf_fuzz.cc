// A GGUF file: its header, the family and the tokenizer that it describes, and
// the bytes of its tensors.
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/families/gguf/load_gguf.h"
#include "engine/tokenizer/gguf/gguf_tokenizer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

absl::Status Load(const GgufFile& file) {
  for (const std::string& name : file.Names()) {
    const auto view = file.Find(name);
    ATTEND_CHECK(view.ok());
    const size_t numbers = NumbersIn(view->type, view->bytes.size());
    ATTEND_CHECK(FindNotFinite(view->type, view->bytes) <= numbers);
    ATTEND_CHECK(view->bytes.size() == BytesOf(view->type, numbers));
  }
  const absl::Status family = LoadGguf(file).status();
  const auto tokenizer = LoadGgufTokenizer(file.metadata());
  if (tokenizer.ok()) {
    ATTEND_CHECK(tokenizer->tokenizer->vocab_size(Side::kSource) >= 0);
    const auto encoding =
        tokenizer->tokenizer->Encode({.text = "A b\xc3\xa9 12"});
    ATTEND_CHECK(encoding.ok() || !encoding.status().message().empty());
  } else {
    CheckRefusal(tokenizer.status(), "f.gguf");
  }
  return family;
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  const auto file = GgufFile::Open(directory.Write("f.gguf", View(data, size)));
  Accepted(file.ok() ? Load(*file) : file.status(), "f.gguf");
  return 0;
}
