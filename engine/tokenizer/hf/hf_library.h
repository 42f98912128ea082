#ifndef ATTEND_ENGINE_TOKENIZER_HF_HF_LIBRARY_H_
#define ATTEND_ENGINE_TOKENIZER_HF_HF_LIBRARY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tokenizer/rust/hf_tokenizer.h"
#include "engine/tokenizer/text/encoding.h"

namespace attend {

// Hugging Face's `tokenizers`: the functions of rust/hf_tokenizer.h in our
// terms. Its errors, panics too, are INVALID_ARGUMENT. Any thread may use a
// const one.
class HfLibrary {
 public:
  struct Piece {
    int id = 0;
    std::string text;
    bool special = false;
  };

  // Of the contents of a tokenizer.json; errors name `path`.
  static absl::StatusOr<HfLibrary> Load(const std::string& path,
                                        absl::string_view json);

  // `json`: a list like tokenizer.json's added_tokens.
  absl::Status AddTokens(absl::string_view json);
  // Special tokens written out in a text become text like any other.
  void SplitSpecial();

  absl::StatusOr<std::vector<Piece>> Pieces() const;
  // A list in json: the type of the model, the decoder.
  absl::StatusOr<std::string> Describe() const;

  // Texts must be UTF-8.
  absl::StatusOr<Encoding> Encode(absl::string_view text,
                                  std::optional<absl::string_view> pair,
                                  bool add_special) const;
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids,
                                     bool skip_special) const;

 private:
  struct Free {
    void operator()(HfHandle* tokenizer) const { hf_tokenizer_free(tokenizer); }
  };
  explicit HfLibrary(HfHandle* tokenizer) : tokenizer_(tokenizer) {}

  std::unique_ptr<HfHandle, Free> tokenizer_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_HF_LIBRARY_H_
