#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/text/clean_up.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// Joins TokenText() of all ids. Spaces at both ends of the text are dropped; a
// byte that is not part of a character becomes U+FFFD.
class TokenTextStream final : public StreamDecoder {
 public:
  explicit TokenTextStream(const Tokenizer& tokenizer)
      : tokenizer_(tokenizer) {}
  // Takes `ids` as what has been decoded before.
  void Pass(absl::Span<const int> ids);
  std::string Append(int id) override;
  std::string Flush() override;

 private:
  // Removes the whole characters from bytes_ and returns them; at the end
  // everything.
  std::string Characters(bool at_end);
  // Removes the text that later ids cannot change from text_, and returns it.
  std::string Settled(bool at_end);

  const Tokenizer& tokenizer_;
  std::string bytes_;     // of an unfinished character
  std::string spaces_;    // dropped if nothing follows them
  std::string text_;      // may yet lose a space before punctuation
  bool started_ = false;  // something but spaces has come
};

void TokenTextStream::Pass(absl::Span<const int> ids) {
  for (const int id : ids) Append(id);
  text_.clear();
}

std::string TokenTextStream::Append(int id) {
  absl::StrAppend(&bytes_, tokenizer_.TokenText(id));
  text_ += Characters(/*at_end=*/false);
  return Settled(/*at_end=*/false);
}

std::string TokenTextStream::Flush() {
  text_ += Characters(/*at_end=*/true);
  return Settled(/*at_end=*/true);
}

std::string TokenTextStream::Characters(bool at_end) {
  std::string characters;
  absl::string_view rest = bytes_;
  while (!rest.empty()) {
    const Utf8Char first = FirstUtf8Char(rest);
    if (first.incomplete && !at_end) break;
    absl::string_view character =
        first.length > 0 ? rest.substr(0, first.length) : kReplacement;
    rest.remove_prefix(std::max(first.length, 1));
    if (character == kSpaceMark) character = " ";
    if (IsSpace(character)) {
      if (started_) absl::StrAppend(&spaces_, character);
      continue;
    }
    absl::StrAppend(&characters, std::exchange(spaces_, ""), character);
    started_ = true;
  }
  bytes_ = std::string(rest);
  return characters;
}

std::string TokenTextStream::Settled(bool at_end) {
  if (!tokenizer_.cleans_up_spaces()) return std::exchange(text_, "");
  const size_t length = at_end ? text_.size() : CleanUpBoundary(text_);
  std::string settled = CleanUpSpaces(text_.substr(0, length));
  text_.erase(0, length);
  return settled;
}

}  // namespace

std::unique_ptr<StreamDecoder> Tokenizer::NewStream(
    absl::Span<const int> before) const {
  auto stream = std::make_unique<TokenTextStream>(*this);
  stream->Pass(before);
  return stream;
}

}  // namespace attend
