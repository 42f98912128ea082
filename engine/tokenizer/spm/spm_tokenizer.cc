#include "engine/tokenizer/spm/spm_tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/clean_up.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// The language code that a text begins with, as ">>deu<<"; "" if none.
absl::string_view LanguageCode(absl::string_view text) {
  if (!absl::StartsWith(text, ">>")) return "";
  const size_t end = text.find("<<");
  return end == absl::string_view::npos ? "" : text.substr(0, end + 2);
}

}  // namespace

std::vector<std::string> SpmTokenizer::SpecialTokens(const HfConfig& config) {
  std::vector<std::string> all = {config.eos, config.unk};
  if (!config.pad.empty()) all.push_back(config.pad);
  for (const HfConfig::Token& token : config.special) {
    all.push_back(token.content);
  }
  for (const HfConfig::Token& token : config.added) {
    all.push_back(token.content);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(b.size(), a) < std::pair(a.size(), b);
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void SpmTokenizer::ReadMarianLanguages(const ModelCard& card) {
  const auto add = [](const std::string& code, std::vector<std::string>& to) {
    if (!code.empty() && std::find(to.begin(), to.end(), code) == to.end()) {
      to.push_back(code);
    }
  };
  // A model with several targets has a token for each.
  for (absl::string_view token : source_->vocabulary.tokens()) {
    if (token.size() <= 4 || LanguageCode(token) != token) continue;
    marian_targets_.emplace_back(token.substr(2, token.size() - 4));
  }
  const bool one_target = marian_targets_.empty();
  if (one_target && !config_.target_language.empty()) {
    add(config_.target_language, marian_targets_);
  } else if (one_target && card.targets.size() == 1) {
    add(card.targets.front(), marian_targets_);
  }
  add(config_.source_language, marian_sources_);
  // One language may have other letters in the card: "eng".
  if (marian_sources_.empty() || card.sources.size() > 1) {
    for (const std::string& code : card.sources) add(code, marian_sources_);
  }
  // The languages of the metadata are those of both sides: of a model with one
  // target, all but that one are sources.
  if (!one_target || marian_sources_.empty() || card.languages.size() < 3) {
    return;
  }
  for (const std::string& code : card.languages) {
    if (code != config_.target_language) add(code, marian_sources_);
  }
}

SpmTokenizer::SpmTokenizer(HfConfig config, SharedSideModel source,
                           SharedSideModel target, const ModelCard& card)
    : config_(std::move(config)),
      special_(SpecialTokens(config_)),
      source_(std::move(source)),
      target_(std::move(target)),
      languages_(Languages::Create(config_, source_->vocabulary.size(),
                                   [this](int id) -> absl::string_view {
                                     return source_->vocabulary.Token(id);
                                   })) {
  if (!languages_) ReadMarianLanguages(card);
  for (const SharedSideModel& side : {source_, target_}) {
    for (const std::string& token : side->vocabulary.tokens()) {
      longest_token_ = std::max(longest_token_, token.size());
    }
  }
  const Vocabulary& vocabulary = target_->vocabulary;
  for (int id = 0; id < vocabulary.size(); ++id) {
    token_texts_.Add(
        target_->special[id]
            ? ""
            : decoder(Side::kTarget).PieceText(vocabulary.Token(id)));
  }
  token_texts_.ShrinkToFit();
}

const SpmTokenizer::SideModel& SpmTokenizer::model(Side side) const {
  return side == Side::kSource ? *source_ : *target_;
}

// With one vocabulary transformers decodes both sides with the source's model.
const SentencePiece& SpmTokenizer::decoder(Side side) const {
  return config_.separate_vocabs ? model(side).encoder : source_->encoder;
}

absl::string_view SpmTokenizer::SpecialAt(absl::string_view text) const {
  if (config_.split_special_tokens) return "";
  for (const std::string& token : special_) {
    if (absl::StartsWith(text, token)) return token;
  }
  return "";
}

void SpmTokenizer::EncodePlain(absl::string_view text, Side side,
                               TokenOrigin origin, Encoding& encoding) const {
  if (text.empty()) return;
  const SideModel& in = model(side);
  const auto append = [&](absl::string_view token, int begin, int end) {
    const int id = in.vocabulary.Find(token);
    encoding.Append(id < 0 ? in.unk_id : id, 0,
                    {origin.text, origin.begin + begin, origin.begin + end});
  };
  const absl::string_view code = languages_ ? "" : LanguageCode(text);
  const int plain = static_cast<int>(code.size());
  if (plain > 0) append(code, 0, plain);
  for (const auto& piece : in.encoder.Encode(text.substr(plain))) {
    append(piece.text, plain + piece.begin, plain + piece.end);
  }
}

void SpmTokenizer::EncodeText(absl::string_view text, Side side, int number,
                              Encoding& encoding) const {
  size_t begin = 0;  // of the plain text before `at`
  const auto origin = [&](size_t from, size_t to) {
    return TokenOrigin{number, static_cast<int>(from), static_cast<int>(to)};
  };
  const auto encode_plain = [&](size_t end) {
    EncodePlain(text.substr(begin, end - begin), side, origin(begin, end),
                encoding);
  };
  for (size_t at = 0; at < text.size();) {
    const absl::string_view special = SpecialAt(text.substr(at));
    if (special.empty()) {
      ++at;
      continue;
    }
    encode_plain(at);
    begin = at + special.size();
    encoding.Append(model(side).vocabulary.Find(special), 0, origin(at, begin));
    at = begin;
  }
  encode_plain(text.size());
}

absl::StatusOr<Encoding> SpmTokenizer::Encode(const EncodeInput& input) const {
  RETURN_IF_ERROR(CheckTexts(input));
  if (!input.language.empty()) {
    RETURN_IF_ERROR(LanguageId(input.language).status());
  }
  Encoding encoding;
  EncodeText(input.text, input.side, 0, encoding);
  if (input.pair.has_value()) {
    EncodeText(*input.pair, input.side, 1, encoding);
  }
  if (input.add_special && languages_) {
    RETURN_IF_ERROR(languages_->Frame(input.language, input.side, encoding));
  } else if (input.add_special) {
    encoding.Append(model(input.side).eos_id, 0, {});
  }
  Truncate(input.max_tokens, config_.truncation_side, encoding,
           OddToken::kOfText, input.cut);
  return encoding;
}

absl::StatusOr<std::string> SpmTokenizer::Decode(absl::Span<const int> ids,
                                                 Side side,
                                                 bool keep_special) const {
  const SideModel& in = model(side);
  std::string text;
  std::vector<absl::string_view> pieces;  // since the last special token
  for (const int id : ids) {
    if (id < 0 || id >= in.vocabulary.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("token id ", id, " is not in the vocabulary of ",
                       in.vocabulary.size()));
    }
    const absl::string_view piece = in.vocabulary.Token(id);
    if (!in.special[id]) {
      pieces.push_back(piece);
    } else if (keep_special) {
      absl::StrAppend(&text, decoder(side).Decode(pieces), piece,
                      languages_ ? "" : " ");
      pieces.clear();
    }
  }
  absl::StrAppend(&text, decoder(side).Decode(pieces));
  text = StripSpaces(absl::StrReplaceAll(text, {{kSpaceMark, " "}}));
  return config_.clean_up_spaces ? CleanUpSpaces(text) : text;
}

int SpmTokenizer::vocab_size(Side side) const {
  return model(side).vocabulary.size();
}

absl::string_view SpmTokenizer::Piece(int id, Side side) const {
  if (id >= vocab_size(side)) return "";
  return model(side).vocabulary.Token(id);
}

int SpmTokenizer::TokenId(absl::string_view piece, Side side) const {
  return model(side).vocabulary.Find(piece);
}

bool SpmTokenizer::IsSpecial(int id, Side side) const {
  return id < vocab_size(side) && model(side).special[id];
}

absl::string_view SpmTokenizer::TokenText(int id) const {
  if (id >= vocab_size(Side::kTarget)) return "";
  return token_texts_[id];
}

std::vector<std::string> SpmTokenizer::languages(Side side) const {
  if (languages_) return languages_->Codes();
  return side == Side::kSource ? marian_sources_ : marian_targets_;
}

absl::StatusOr<int> SpmTokenizer::LanguageId(absl::string_view language) const {
  if (!languages_) return Tokenizer::LanguageId(language);
  return languages_->Find(language);
}

}  // namespace attend
