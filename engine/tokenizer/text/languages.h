#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGES_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGES_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/text/encoding.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The languages of a multilingual translation model; each has a special token.
// NLLB, M2M100 and mBART-50 put the token of the language before a text and the
// end of sequence after it; mBART puts both after the text. Immutable.
class Languages {
 public:
  // nullopt if config.tokenizer_class has no languages. `piece` gives the
  // pieces of the vocabulary, by id in [0, vocab_size); a piece that is spelled
  // like a language's token is one.
  static std::optional<Languages> Create(
      const HfConfig& config, int vocab_size,
      absl::FunctionRef<absl::string_view(int id)> piece);

  // All languages, in alphabetical order.
  std::vector<std::string> Codes() const;
  // The id of a language's token. INVALID_ARGUMENT names some of the languages.
  absl::StatusOr<int> Find(absl::string_view language) const;

  // Puts special tokens around an encoding that has none. An empty `language`
  // means the default of `side`. Errors: those of Find().
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
