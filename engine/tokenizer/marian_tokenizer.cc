#include "engine/tokenizer/marian_tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/clean_up.h"
#include "engine/tokenizer/utf8.h"

namespace attend {
namespace {

std::vector<std::string> SpecialTokens(const TokenizerConfig& config) {
  std::vector<std::string> all = config.more_special;
  all.insert(all.end(), {config.eos, config.unk, config.pad});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(b.size(), a) < std::pair(a.size(), b);
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// The language code that a text begins with, as ">>deu<<"; "" if none.
absl::string_view LanguageCode(absl::string_view text) {
  if (!absl::StartsWith(text, ">>")) return "";
  const size_t end = text.find("<<");
  return end == absl::string_view::npos ? "" : text.substr(0, end + 2);
}

}  // namespace

absl::StatusOr<MarianTokenizer::Language> MarianTokenizer::LoadLanguage(
    const std::string& vocabulary, const std::string& spm,
    const TokenizerConfig& config) {
  ASSIGN_OR_RETURN(Vocabulary tokens, Vocabulary::Load(vocabulary));
  ASSIGN_OR_RETURN(SentencePiece encoder, SentencePiece::Load(spm));
  Language language{std::move(tokens), std::move(encoder), 0, 0, {}};
  language.special.resize(language.vocabulary.size());
  for (const std::string& token : SpecialTokens(config)) {
    const int id = token.empty() ? -1 : language.vocabulary.Find(token);
    if (id < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          vocabulary, ": special token \"", token, "\" is missing"));
    }
    language.special[id] = true;
  }
  language.eos_id = language.vocabulary.Find(config.eos);
  language.unk_id = language.vocabulary.Find(config.unk);
  return language;
}

absl::StatusOr<std::unique_ptr<MarianTokenizer>> MarianTokenizer::Load(
    const std::string& directory) {
  const std::string prefix = directory + "/";
  ASSIGN_OR_RETURN(TokenizerConfig config,
                   LoadTokenizerConfig(prefix + "tokenizer_config.json"));
  ASSIGN_OR_RETURN(
      Language source,
      LoadLanguage(prefix + "vocab.json", prefix + "source.spm", config));
  ASSIGN_OR_RETURN(
      Language target,
      LoadLanguage(prefix + (config.separate_vocabs ? "target_vocab.json"
                                                    : "vocab.json"),
                   prefix + "target.spm", config));
  return std::unique_ptr<MarianTokenizer>(new MarianTokenizer(
      std::move(config), std::move(source), std::move(target)));
}

MarianTokenizer::MarianTokenizer(TokenizerConfig config, Language source,
                                 Language target)
    : config_(std::move(config)),
      special_(SpecialTokens(config_)),
      source_(std::move(source)),
      target_(std::move(target)) {
  for (int id = 0; id < target_.vocabulary.size(); ++id) {
    token_texts_.push_back(
        target_.special[id]
            ? ""
            : decoder(Side::kTarget).PieceText(target_.vocabulary.Token(id)));
  }
}

const MarianTokenizer::Language& MarianTokenizer::language(Side side) const {
  return side == Side::kSource ? source_ : target_;
}

// With one vocabulary the reference decodes both sides by the source's rules.
const SentencePiece& MarianTokenizer::decoder(Side side) const {
  return config_.separate_vocabs ? language(side).encoder : source_.encoder;
}

absl::string_view MarianTokenizer::SpecialAt(absl::string_view text) const {
  if (config_.split_special_tokens) return "";
  for (const std::string& token : special_) {
    if (absl::StartsWith(text, token)) return token;
  }
  return "";
}

void MarianTokenizer::EncodePlain(absl::string_view part, Side side,
                                  TokenOrigin origin,
                                  Encoding& encoding) const {
  if (part.empty()) return;
  const Language& in = language(side);
  const auto append = [&](absl::string_view token, int begin, int end) {
    const int id = in.vocabulary.Find(token);
    encoding.Append(id < 0 ? in.unk_id : id, 0,
                    {origin.text, origin.begin + begin, origin.begin + end});
  };
  const absl::string_view code = LanguageCode(part);
  const int plain = static_cast<int>(code.size());
  if (plain > 0) append(code, 0, plain);
  for (const auto& piece : in.encoder.Encode(part.substr(plain))) {
    append(piece.text, plain + piece.begin, plain + piece.end);
  }
}

void MarianTokenizer::EncodeText(absl::string_view text, Side side, int number,
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
    encoding.Append(language(side).vocabulary.Find(special), 0,
                    origin(at, begin));
    at = begin;
  }
  encode_plain(text.size());
}

absl::StatusOr<Encoding> MarianTokenizer::Encode(
    const EncodeInput& input) const {
  RETURN_IF_ERROR(CheckTexts(input));
  if (!input.language.empty()) return LanguageId(input.language).status();
  Encoding encoding;
  EncodeText(input.text, input.side, 0, encoding);
  if (input.pair.has_value()) {
    EncodeText(*input.pair, input.side, 1, encoding);
  }
  if (input.add_special) encoding.Append(language(input.side).eos_id, 0, {});
  Truncate(input.max_tokens, TruncationSide::kRight, encoding);
  return encoding;
}

absl::StatusOr<std::string> MarianTokenizer::Decode(absl::Span<const int> ids,
                                                    Side side,
                                                    bool keep_special) const {
  const Language& in = language(side);
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
      absl::StrAppend(&text, decoder(side).Decode(pieces), piece, " ");
      pieces.clear();
    }
  }
  absl::StrAppend(&text, decoder(side).Decode(pieces));
  text = StripSpaces(absl::StrReplaceAll(text, {{kSpaceMark, " "}}));
  return config_.clean_up_spaces ? CleanUpSpaces(text) : text;
}

int MarianTokenizer::vocab_size(Side side) const {
  return language(side).vocabulary.size();
}

absl::string_view MarianTokenizer::Piece(int id, Side side) const {
  if (id >= vocab_size(side)) return "";
  return language(side).vocabulary.Token(id);
}

int MarianTokenizer::TokenId(absl::string_view piece, Side side) const {
  return language(side).vocabulary.Find(piece);
}

bool MarianTokenizer::IsSpecial(int id, Side side) const {
  return id < vocab_size(side) && language(side).special[id];
}

absl::string_view MarianTokenizer::TokenText(int id) const {
  if (id >= vocab_size(Side::kTarget)) return "";
  return token_texts_[id];
}

}  // namespace attend
