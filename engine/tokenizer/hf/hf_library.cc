#include "engine/tokenizer/hf/hf_library.h"

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/rust/rust_call.h"

namespace attend {
namespace {

void TakePiece(void* context, uint32_t id, HfText piece, bool special) {
  static_cast<RustCall<std::vector<HfLibrary::Piece>>*>(context)
      ->result.push_back(
          {static_cast<int>(id), std::string(piece.data, piece.size), special});
}

void TakeTokens(void* context, const HfToken* tokens, size_t size) {
  Encoding& encoding = static_cast<RustCall<Encoding>*>(context)->result;
  encoding.ids.reserve(size);
  encoding.types.reserve(size);
  encoding.origins.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    encoding.Append(static_cast<int>(tokens[i].id),
                    static_cast<int>(tokens[i].type),
                    {tokens[i].text, static_cast<int>(tokens[i].begin),
                     static_cast<int>(tokens[i].end)});
  }
}

}  // namespace

absl::StatusOr<HfLibrary> HfLibrary::Load(const std::string& path,
                                          absl::string_view json) {
  RustCall<int> call;
  HfHandle* tokenizer = hf_tokenizer_load(ToText(json), TakeError<int>, &call);
  if (tokenizer == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", call.error));
  }
  return HfLibrary(tokenizer);
}

absl::Status HfLibrary::AddTokens(absl::string_view json) {
  RustCall<int> call;
  return hf_tokenizer_add_tokens(tokenizer_.get(), ToText(json), TakeError<int>,
                                 &call)
             ? absl::OkStatus()
             : call.status();
}

void HfLibrary::SplitSpecial() {
  hf_tokenizer_split_special(tokenizer_.get(), true);
}

absl::StatusOr<std::vector<HfLibrary::Piece>> HfLibrary::Pieces() const {
  RustCall<std::vector<Piece>> call;
  if (!hf_tokenizer_pieces(tokenizer_.get(), TakePiece,
                           TakeError<std::vector<Piece>>, &call)) {
    return call.status();
  }
  return std::move(call.result);
}

absl::StatusOr<std::string> HfLibrary::Describe() const {
  RustCall<std::string> call;
  if (!hf_tokenizer_describe(tokenizer_.get(), TakeText, TakeError<std::string>,
                             &call)) {
    return call.status();
  }
  return std::move(call.result);
}

absl::StatusOr<Encoding> HfLibrary::Encode(
    absl::string_view text, std::optional<absl::string_view> pair,
    bool add_special) const {
  RustCall<Encoding> call;
  const HfText second = ToText(pair.value_or(""));
  if (!hf_tokenizer_encode(tokenizer_.get(), ToText(text),
                           pair.has_value() ? &second : nullptr, add_special,
                           TakeTokens, TakeError<Encoding>, &call)) {
    return call.status();
  }
  return std::move(call.result);
}

absl::StatusOr<std::string> HfLibrary::Decode(absl::Span<const int> ids,
                                              bool skip_special) const {
  RustCall<std::string> call;
  const std::vector<uint32_t> unsigned_ids(ids.begin(), ids.end());
  if (!hf_tokenizer_decode(tokenizer_.get(), unsigned_ids.data(),
                           unsigned_ids.size(), skip_special, TakeText,
                           TakeError<std::string>, &call)) {
    return call.status();
  }
  return std::move(call.result);
}

}  // namespace attend
