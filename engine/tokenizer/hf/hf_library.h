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

// Hugging Face's library `tokenizers`: the functions of rust/hf_tokenizer.h
// with C++ types. Errors and panics of the library are INVALID_ARGUMENT; too
// little memory for a large text or file is RESOURCE_EXHAUSTED. Any thread may
// call the const functions.
class HfLibrary {
 public:
  struct Piece {
    int id = 0;
    std::string text;
    bool special = false;
  };

  // `json` is the contents of a tokenizer.json; errors name `path`.
  static absl::StatusOr<HfLibrary> Load(const std::string& path,
                                        absl::string_view json);

  // `json` is a list like added_tokens of tokenizer.json.
  absl::Status AddTokens(absl::string_view json);
  // Replaces the post-processor; `json` is like that of a tokenizer.json.
  absl::Status SetPostProcessor(absl::string_view json);
  // From now on a special token in a text is text like any other.
  void SplitSpecial();

  // All tokens of the vocabulary and all added tokens, in any order.
  absl::StatusOr<std::vector<Piece>> Pieces() const;
  // A JSON list of three values: the type of the model, the decoder, and
  // whether there is a post-processor.
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
