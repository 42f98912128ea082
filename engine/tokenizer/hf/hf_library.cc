#include "engine/tokenizer/hf/hf_library.h"

#include "absl/strings/str_cat.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/rust/rust_call.h"

namespace attend {
namespace {

// What the library takes for a byte of a text, at most about; and for one of a
// tokenizer.json. It ends the process where it gets no memory: so what is large
// is begun only where there is that much. What is small is as everything else
// that the process takes.
constexpr size_t kLargeText = 16 << 10;
constexpr size_t kRoomPerByte = 512;
constexpr size_t kRoomPerJsonByte = 32;

absl::Status CheckRoomForText(size_t bytes) {
  return bytes < kLargeText ? absl::OkStatus()
                            : CheckRoomFor(bytes * kRoomPerByte);
}

void TakePiece(void* context, uint32_t id, HfText piece, bool special) {
  RustCall<std::vector<HfLibrary::Piece>>::Sink(context, [&](auto& call) {
    call.result.push_back(
        {static_cast<int>(id), std::string(piece.data, piece.size), special});
  });
}

void Append(const HfToken* tokens, size_t size, Encoding& encoding) {
  encoding.ids.reserve(size);
  encoding.types.reserve(size);
  encoding.origins.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    encoding.Append(static_cast<int>(tokens[i].id),
                    static_cast<int>(tokens[i].type),
                    {tokens[i].text, static_cast<int>(tokens[i].begin),
                     static_cast<int>(tokens[i].end), tokens[i].word});
  }
}

void TakeTokens(void* context, const HfToken* tokens, size_t size) {
  RustCall<Encoding>::Sink(
      context, [&](auto& call) { Append(tokens, size, call.result); });
}

}  // namespace

absl::StatusOr<HfLibrary> HfLibrary::Load(const std::string& path,
                                          absl::string_view json) {
  RETURN_IF_ERROR(CheckRoomFor(json.size() * kRoomPerJsonByte));
  RustCall<int> call;
  HfHandle* tokenizer = hf_tokenizer_load(ToText(json), TakeError<int>, &call);
  if (tokenizer != nullptr) return HfLibrary(tokenizer);
  if (call.out_of_memory) return OutOfMemory();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", call.error));
}

absl::Status HfLibrary::AddTokens(absl::string_view json) {
  RustCall<int> call;
  return call
      .Take(hf_tokenizer_add_tokens(tokenizer_.get(), ToText(json),
                                    TakeError<int>, &call))
      .status();
}

absl::Status HfLibrary::SetPostProcessor(absl::string_view json) {
  RustCall<int> call;
  return call
      .Take(hf_tokenizer_set_post_processor(tokenizer_.get(), ToText(json),
                                            TakeError<int>, &call))
      .status();
}

void HfLibrary::SplitSpecial() {
  hf_tokenizer_split_special(tokenizer_.get(), true);
}

absl::StatusOr<std::vector<HfLibrary::Piece>> HfLibrary::Pieces() const {
  RustCall<std::vector<Piece>> call;
  return call.Take(hf_tokenizer_pieces(tokenizer_.get(), TakePiece,
                                       TakeError<std::vector<Piece>>, &call));
}

absl::StatusOr<std::string> HfLibrary::Describe() const {
  RustCall<std::string> call;
  return call.Take(hf_tokenizer_describe(tokenizer_.get(), TakeText,
                                         TakeError<std::string>, &call));
}

absl::StatusOr<Encoding> HfLibrary::Encode(
    absl::string_view text, std::optional<absl::string_view> pair,
    bool add_special) const {
  RETURN_IF_ERROR(CheckRoomForText(text.size() + pair.value_or("").size()));
  RustCall<Encoding> call;
  const HfText second = ToText(pair.value_or(""));
  return call.Take(hf_tokenizer_encode(
      tokenizer_.get(), ToText(text), pair.has_value() ? &second : nullptr,
      add_special, TakeTokens, TakeError<Encoding>, &call));
}

absl::StatusOr<std::string> HfLibrary::Decode(absl::Span<const int> ids,
                                              bool skip_special) const {
  RETURN_IF_ERROR(CheckRoomForText(ids.size() * sizeof(uint32_t)));
  const std::vector<uint32_t> unsigned_ids(ids.begin(), ids.end());
  RustCall<std::string> call;
  return call.Take(hf_tokenizer_decode(
      tokenizer_.get(), unsigned_ids.data(), unsigned_ids.size(), skip_special,
      TakeText, TakeError<std::string>, &call));
}

}  // namespace attend
