#ifndef ATTEND_SERVER_SERVICE_CHOICE_TEXT_H_
#define ATTEND_SERVER_SERVICE_CHOICE_TEXT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Text of one growing result, in pieces: never half a character, and never
// what is, or may yet become, a stop string. Where a stop string comes up the
// text ends before it. Borrows tokenizer and stop strings.
class ChoiceText {
 public:
  // `before`: the ids that the result continues.
  ChoiceText(const Tokenizer& tokenizer,
             const std::vector<std::string>& stop_strings,
             absl::Span<const int> before)
      : decoder_(tokenizer.NewStream(before)), stop_strings_(stop_strings) {}

  // The text that `id` makes certain.
  std::string Append(int id) { return Release(decoder_->Append(id), false); }
  // What was held back.
  std::string Flush() { return Release(decoder_->Flush(), true); }

 private:
  std::string Release(absl::string_view text, bool last);

  std::unique_ptr<StreamDecoder> decoder_;
  const std::vector<std::string>& stop_strings_;
  std::string held_;      // may be the start of a stop string
  bool stopped_ = false;  // a stop string has come up
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_CHOICE_TEXT_H_
