#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_NORMALIZER_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_NORMALIZER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/spm/spm_file.h"

namespace attend {

// SentencePiece's normaliser: replaces the longest match of a table (NFKC and
// the like), removes extra spaces, and replaces spaces by marks. Const after
// Create(); any thread may use it.
class SpmNormalizer {
 public:
  // INVALID_ARGUMENT if the table is truncated. An offset in the table is
  // checked when it is used.
  static absl::StatusOr<SpmNormalizer> Create(const std::string& path,
                                              const SpmFile& file);

  struct Normalized {
    std::string text;
    // The place in the original of each byte of `text`, and the original's end.
    std::vector<int> origins;  // [text.size() + 1]
  };
  // `text` must be UTF-8.
  Normalized Normalize(absl::string_view text) const;

  // The longest user-defined symbol with which `text` begins; "" if none.
  absl::string_view SymbolAt(absl::string_view text) const;

 private:
  SpmNormalizer() = default;
  // The replacement of the start of `text`, and how many bytes it replaces.
  std::pair<absl::string_view, size_t> Prefix(absl::string_view text) const;
  std::pair<absl::string_view, size_t> LongestRule(
      absl::string_view text) const;

  std::vector<uint32_t> trie_;  // units of a double array (Darts-clone)
  std::string replacements_;    // each ends with NUL
  std::vector<std::string> user_defined_;  // kept as they are; longest first
  bool add_dummy_prefix_ = true;
  bool remove_extra_spaces_ = true;
  bool escape_spaces_ = true;
  bool space_is_suffix_ = false;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_NORMALIZER_H_
