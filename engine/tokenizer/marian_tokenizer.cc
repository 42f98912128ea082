#include "engine/tokenizer/marian_tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/tensor/check.h"
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

void MarianTokenizer::EncodePlain(absl::string_view text, Side side,
                                  std::vector<int>& ids) const {
  if (text.empty()) return;
  const Language& in = language(side);
  const auto append = [&](absl::string_view token) {
    const int id = in.vocabulary.Find(token);
    ids.push_back(id < 0 ? in.unk_id : id);
  };
  const absl::string_view code = LanguageCode(text);
  if (!code.empty()) append(code);
  for (const std::string& piece : in.encoder.Encode(text.substr(code.size()))) {
    append(piece);
  }
}

absl::StatusOr<std::vector<int>> MarianTokenizer::Encode(
    absl::string_view text, Side side, bool add_special) const {
  const size_t invalid = FindInvalidUtf8(text);
  if (invalid != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("text is not UTF-8 at byte ", invalid));
  }
  std::vector<int> ids;
  size_t begin = 0;  // of the plain text before `at`
  for (size_t at = 0; at < text.size();) {
    const absl::string_view special = SpecialAt(text.substr(at));
    if (special.empty()) {
      ++at;
      continue;
    }
    EncodePlain(text.substr(begin, at - begin), side, ids);
    ids.push_back(language(side).vocabulary.Find(special));
    at += special.size();
    begin = at;
  }
  EncodePlain(text.substr(begin), side, ids);
  if (add_special) ids.push_back(language(side).eos_id);
  return ids;
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
  ATTEND_CHECK(id >= 0 && id < vocab_size(side));
  return language(side).vocabulary.Token(id);
}

bool MarianTokenizer::IsSpecial(int id, Side side) const {
  ATTEND_CHECK(id >= 0 && id < vocab_size(side));
  return language(side).special[id];
}

absl::string_view MarianTokenizer::TokenText(int id) const {
  ATTEND_CHECK(id >= 0 && id < vocab_size(Side::kTarget));
  return token_texts_[id];
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(
    const std::string& directory) {
  return MarianTokenizer::Load(directory);
}

}  // namespace attend
