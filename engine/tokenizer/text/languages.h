#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGES_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGES_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/text/encoding.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The languages of a multilingual translation model, which its special tokens
// name: NLLB, M2M100 and mBART-50 put the token of a text's language before it
// and the end of sequence after it, mBART both after it. Immutable.
class Languages {
 public:
  // None for tokenizers of other classes. `pieces` are the vocabulary's, by id;
  // those that are spelled like a language's token are taken for one.
  static std::optional<Languages> Create(
      const HfConfig& config, const std::vector<std::string>& pieces);

  // INVALID_ARGUMENT names some of the languages.
  absl::StatusOr<int> Find(absl::string_view language) const;

  // Puts the special tokens around an encoding that has none. An empty
  // `language` is the default of that side.
  absl::Status Frame(absl::string_view language, Side side,
                     Encoding& encoding) const;

 private:
  bool before_ = true;  // the language's token stands before the text
  int eos_id_ = 0;
  std::string default_source_, default_target_;
  std::map<std::string, int, std::less<>> ids_;  // by code
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGES_H_
