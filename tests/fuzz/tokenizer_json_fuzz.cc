// A tokenizer.json, and texts that are cut by it.
#include "engine/tokenizer/hf/hf_tokenizer.h"
#include "tests/fuzz/fuzz.h"

namespace attend {
namespace {

constexpr absl::string_view kTexts[] = {
    "", " ", "Hello world, the the  aaaaaaaaaaaa!",
    "\xe2\x96\x81x\xef\xbc\xa1\xe3\x80\x80\xcc\x81\xc3\xa9 [MASK] <mask>"
    "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 \n\t<unk><s></s>"};

void Use(const HfTokenizer& tokenizer, absl::string_view text) {
  EncodeInput input;
  input.text = text;
  const auto encoding = tokenizer.Encode(input);
  if (!encoding.ok()) return;
  const auto stream = tokenizer.NewStream({});
  for (const int id : encoding->ids) {
    // A file may give its unknown token any id, which no table has.
    ATTEND_CHECK(id >= 0);
    stream->Append(id);
    (void)tokenizer.TokenText(id);
  }
  stream->Flush();
  for (const TokenOrigin& origin : encoding->origins) {
    if (origin.text < 0) continue;
    ATTEND_CHECK(0 <= origin.begin && origin.begin <= origin.end);
    ATTEND_CHECK(origin.end <= static_cast<int>(text.size()));
  }
  // An error if an id is in no table.
  (void)tokenizer.Decode(encoding->ids, Side::kTarget, false);
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const auto tokenizer =
      HfTokenizer::Create("tokenizer.json", View(data, size), {});
  if (!Accepted(tokenizer.status(), "tokenizer.json")) return 0;
  for (const absl::string_view text : kTexts) Use(**tokenizer, text);
  return 0;
}
