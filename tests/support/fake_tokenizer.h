#ifndef ATTEND_TESTS_SUPPORT_FAKE_TOKENIZER_H_
#define ATTEND_TESTS_SUPPORT_FAKE_TOKENIZER_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/json/utf8.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The languages that a fake tokenizer says it has.
struct FakeLanguages {
  std::vector<std::string> sources = {"aa", "bb"};
  std::vector<std::string> targets = {"aa", "bb"};
};

// A tokenizer whose tokens are bytes, so that a character may be several
// tokens. Id 0 is the end of sequence, id b + 1 the byte b; ids from 257 on are
// words, " w257" and so on. The last id is the mask, "<mask>" in a text.
// Languages are "aa" (id 300) and "bb" (301); a text in a language begins with
// that id.
class FakeTokenizer final : public Tokenizer {
 public:
  explicit FakeTokenizer(int vocab_size = 1000, FakeLanguages languages = {})
      : vocab_size_(vocab_size), languages_(std::move(languages)) {
    for (int id = 0; id < vocab_size; ++id) {
      if (id >= 1 && id <= 256) {
        texts_.push_back(std::string(1, static_cast<char>(id - 1)));
        pieces_.push_back(absl::StrCat("<", absl::Hex(id - 1), ">"));
      } else {
        texts_.push_back(id == 0 ? "" : absl::StrCat(" w", id));
        pieces_.push_back(id == 0 ? "</s>" : texts_.back());
      }
    }
    pieces_.back() = "<mask>";
    texts_.back() = "";
  }

  // Spells an id, from 257 on, which is special from now on.
  void MakeSpecial(int id, std::string spelling) {
    pieces_[id] = std::move(spelling);
    texts_[id] = "";
  }

  // INVALID_ARGUMENT if the text has the byte 0x01, which stands for any text
  // that cannot be tokenised.
  absl::StatusOr<Encoding> Encode(const EncodeInput& input) const override {
    Encoding encoding;
    if (!input.language.empty()) {
      const auto language = LanguageId(input.language);
      if (!language.ok()) return language.status();
      encoding.Append(*language, 0, {});
    }
    const absl::string_view texts[] = {input.text, input.pair.value_or("")};
    for (int number : {0, 1}) {
      for (int i = 0; i < static_cast<int>(texts[number].size()); ++i) {
        const char c = texts[number][i];
        if (c == '\x01') return absl::InvalidArgumentError("text has 0x01");
        if (absl::StartsWith(texts[number].substr(i), "<mask>")) {
          encoding.Append(mask_id(), number, {number, i, i + 6});
          i += 5;
          continue;
        }
        encoding.Append(static_cast<unsigned char>(c) + 1, number,
                        {number, i, i + 1});
      }
      if (input.add_special && (number == 0 || input.pair.has_value())) {
        encoding.Append(0, number, {});
      }
    }
    Truncate(input.max_tokens, TruncationSide::kRight, encoding);
    return encoding;
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int> ids, Side,
                                     bool keep_special) const override {
    std::string text;
    for (int id : ids) {
      if (id < 0 || id >= vocab_size_) {
        return absl::InvalidArgumentError(absl::StrCat("id is ", id));
      }
      text += IsSpecial(id, Side::kTarget) && keep_special ? pieces_[id]
                                                           : texts_[id];
    }
    return ReplaceInvalidUtf8(text);
  }
  int vocab_size(Side) const override { return vocab_size_; }
  absl::string_view Piece(int id, Side) const override { return pieces_[id]; }
  int TokenId(absl::string_view piece, Side) const override {
    const auto found = std::find(pieces_.begin(), pieces_.end(), piece);
    return found == pieces_.end() ? -1
                                  : static_cast<int>(found - pieces_.begin());
  }
  bool IsSpecial(int id, Side) const override { return texts_[id].empty(); }
  int mask_id() const override { return vocab_size_ - 1; }
  absl::StatusOr<int> LanguageId(absl::string_view language) const override {
    if (language == "aa") return 300;
    if (language == "bb") return 301;
    return absl::InvalidArgumentError(
        absl::StrCat("language is \"", language, "\", there are aa and bb"));
  }
  std::vector<std::string> languages(Side side) const override {
    return side == Side::kSource ? languages_.sources : languages_.targets;
  }
  absl::string_view TokenText(int id) const override { return texts_[id]; }

 private:
  const int vocab_size_;
  const FakeLanguages languages_;
  std::vector<std::string> pieces_;  // spellings, UTF-8
  std::vector<std::string> texts_;   // bytes
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_FAKE_TOKENIZER_H_
