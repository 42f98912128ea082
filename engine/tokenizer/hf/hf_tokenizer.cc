#include "engine/tokenizer/hf/hf_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_file.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/hf/class_json.h"
#include "engine/tokenizer/hf/hf_stream.h"
#include "engine/tokenizer/hf/lower_case.h"
#include "engine/tokenizer/text/clean_up.h"
#include "engine/tokenizer/text/hf_token_json.h"
#include "engine/tokenizer/text/refused_classes.h"

namespace attend {
namespace {

// A file may name any id, and the tables are as long as the greatest id: so ids
// have a limit.
constexpr int kMaxVocabulary = 1 << 24;

// The error of loading `json`. If the type of the model is not supported, says
// so: the library says only that nothing matches.
absl::Status Explained(absl::Status error, const std::string& path,
                       absl::string_view json) {
  const absl::StatusOr<JsonFile> file = JsonFile::Parse(path, json);
  if (!file.ok()) return error;
  const absl::StatusOr<JsonFile> model = file->Object("model");
  if (!model.ok() || !model->Has("type")) return error;
  const absl::StatusOr<std::string> type = model->String("type");
  for (const char* known : {"BPE", "Unigram", "WordLevel", "WordPiece"}) {
    if (type.ok() && *type == known) return error;
  }
  return model->Unexpected("type", "BPE, Unigram, WordLevel or WordPiece");
}

// Removes tokens `eos` that were added to a text that ends with one.
void RemoveSecondEnds(int eos, Encoding& encoding) {
  for (size_t i = encoding.ids.size(); i-- > 1;) {
    if (encoding.ids[i] != eos || encoding.ids[i - 1] != eos ||
        encoding.origins[i].text >= 0 || encoding.origins[i - 1].text < 0) {
      continue;
    }
    encoding.ids.erase(encoding.ids.begin() + i);
    encoding.types.erase(encoding.types.begin() + i);
    encoding.origins.erase(encoding.origins.begin() + i);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HfTokenizer>> HfTokenizer::Load(
    const std::string& directory, const TokenizerSettings& settings) {
  const std::string path = directory + "/tokenizer.json";
  ASSIGN_OR_RETURN(std::string json, ReadFile(path));
  ASSIGN_OR_RETURN(HfConfig config, LoadHfConfig(directory));
  config.extra = settings;
  RETURN_IF_ERROR(CheckTakesFile(path, config.tokenizer_class));
  return CreateOfClass(path, std::move(json), std::move(config));
}

absl::StatusOr<std::unique_ptr<HfTokenizer>> HfTokenizer::CreateOfClass(
    const std::string& path, std::string json, HfConfig config) {
  absl::StatusOr<std::string> applied = ApplyClass(std::move(json), config);
  if (!applied.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", applied.status().message()));
  }
  if (config.extra.lower_case) {
    ASSIGN_OR_RETURN(applied, WithLowerCase(path, *applied));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<HfTokenizer> tokenizer,
                   Create(path, *applied, std::move(config)));
  RETURN_IF_ERROR(tokenizer->FinishClass());
  return tokenizer;
}

absl::Status HfTokenizer::FinishClass() {
  const nlohmann::json post = ClassPostProcessor(
      config_, has_post_processor_,
      [&](absl::string_view token) { return TokenId(token, Side::kSource); });
  if (post.is_null()) return absl::OkStatus();
  return library_.SetPostProcessor(post.dump());
}

absl::StatusOr<std::unique_ptr<HfTokenizer>> HfTokenizer::Create(
    const std::string& path, absl::string_view json, HfConfig config) {
  auto library = HfLibrary::Load(path, json);
  if (!library.ok()) return Explained(library.status(), path, json);
  auto tokenizer = std::unique_ptr<HfTokenizer>(
      new HfTokenizer(*std::move(library), std::move(config)));
  RETURN_IF_ERROR(tokenizer->AddTokens(path));
  RETURN_IF_ERROR(tokenizer->ReadDecoder(path));
  tokenizer->languages_ = Languages::Create(
      tokenizer->config_, tokenizer->pieces_.size(),
      [&pieces = tokenizer->pieces_](int id) { return pieces[id]; });
  return tokenizer;
}

// Adds the tokens that tokenizer_config.json lists, then special tokens that
// the library does not know to be special.
absl::Status HfTokenizer::AddTokens(const std::string& path) {
  if (config_.split_special_tokens) library_.SplitSpecial();
  RETURN_IF_ERROR(library_.AddTokens(ToJson(config_.added)));
  RETURN_IF_ERROR(ReadPieces());
  std::vector<HfConfig::Token> unknown;
  for (const HfConfig::Token& token : config_.special) {
    const int id = TokenId(token.content, Side::kSource);
    if (id < 0 || !special_[id]) unknown.push_back(token);
  }
  if (!unknown.empty()) {
    RETURN_IF_ERROR(library_.AddTokens(ToJson(unknown)));
    RETURN_IF_ERROR(ReadPieces());
  }
  if (pieces_.size() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the vocabulary is empty"));
  }
  std::vector<HfConfig::Token> prefixes;
  prefixes.reserve(config_.extra.prefixes.size());
  for (const std::string& prefix : config_.extra.prefixes) {
    if (TokenId(prefix, Side::kSource) < 0) continue;
    prefixes.push_back({.content = prefix});
  }
  if (!prefixes.empty()) {
    RETURN_IF_ERROR(library_.AddTokens(ToJson(prefixes)));
    RETURN_IF_ERROR(ReadPieces());
  }
  const auto find_mask = [&](absl::string_view token) {
    if (mask_id_ < 0 && !token.empty()) {
      mask_id_ = TokenId(token, Side::kSource);
    }
  };
  find_mask(config_.mask);
  find_mask("[MASK]");
  find_mask("<mask>");
  return absl::OkStatus();
}

absl::Status HfTokenizer::ReadPieces() {
  ASSIGN_OR_RETURN(std::vector<HfLibrary::Piece> listed, library_.Pieces());
  std::vector<absl::string_view> pieces;
  special_.clear();
  longest_token_ = 0;
  for (const HfLibrary::Piece& piece : listed) {
    if (piece.id < 0 || piece.id >= kMaxVocabulary) {
      return absl::InvalidArgumentError(
          absl::StrCat("token \"", piece.text, "\" has id ", piece.id,
                       ", limit is ", kMaxVocabulary));
    }
    if (piece.id >= static_cast<int>(pieces.size())) {
      pieces.resize(piece.id + 1);
      special_.resize(piece.id + 1);
    }
    longest_token_ = std::max(longest_token_, piece.text.size());
    // Two spellings may have one id, and come in any order.
    absl::string_view& known = pieces[piece.id];
    const bool keeps =
        !known.empty() && (special_[piece.id] != piece.special
                               ? static_cast<bool>(special_[piece.id])
                               : known < piece.text);
    if (keeps) continue;
    known = piece.text;
    special_[piece.id] = piece.special;
  }
  pieces_ = TextList();
  for (const absl::string_view piece : pieces) pieces_.Add(piece);
  pieces_.ShrinkToFit();
  sorted_.clear();
  for (int id = 0; id < pieces_.size(); ++id) {
    if (!pieces_[id].empty()) sorted_.push_back(id);
  }
  sorted_.shrink_to_fit();
  std::sort(sorted_.begin(), sorted_.end(), [&](int a, int b) {
    return std::pair(pieces_[a], a) < std::pair(pieces_[b], b);
  });
  return absl::OkStatus();
}

absl::Status HfTokenizer::ReadDecoder(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string described, library_.Describe());
  ASSIGN_OR_RETURN(const nlohmann::json description,
                   ParseJson(path + ": decoder", described));
  rules_ = ParseDecoderRules(description[1]);
  has_post_processor_ = description[2] == true;
  marks_subwords_ = description[0] == "WordPiece";
  // For BPE models transformers ignores clean_up_tokenization_spaces, but for
  // those of two classes and where this flag is set.
  const bool cleans_bpe = config_.clean_up_bpe;
  if (description[0] == "BPE" && !cleans_bpe) config_.clean_up_spaces = false;
  for (int id = 0; id < pieces_.size(); ++id) {
    texts_.Add(special_[id] || pieces_[id].empty()
                   ? ""
                   : rules_.TokenText(pieces_[id]));
  }
  texts_.ShrinkToFit();
  return absl::OkStatus();
}

absl::StatusOr<Encoding> HfTokenizer::Encode(const EncodeInput& input) const {
  RETURN_IF_ERROR(CheckTexts(input));
  if (!input.language.empty()) {
    RETURN_IF_ERROR(LanguageId(input.language).status());
  }
  ASSIGN_OR_RETURN(Encoding encoding,
                   library_.Encode(input.text, input.pair,
                                   input.add_special && !languages_));
  if (input.add_special && languages_) {
    RETURN_IF_ERROR(languages_->Frame(input.language, input.side, encoding));
  }
  if (config_.eos_once) {
    RemoveSecondEnds(TokenId(config_.eos, input.side), encoding);
  }
  Truncate(input.max_tokens, config_.truncation_side, encoding,
           OddToken::kOfLonger, input.cut);
  return encoding;
}

absl::StatusOr<std::string> HfTokenizer::Decode(absl::Span<const int> ids,
                                                Side side,
                                                bool keep_special) const {
  for (const int id : ids) {
    if (id < 0 || id >= vocab_size(side)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "token id ", id, " is not in the vocabulary of ", vocab_size(side)));
    }
  }
  ASSIGN_OR_RETURN(std::string text, library_.Decode(ids, !keep_special));
  return config_.clean_up_spaces ? CleanUpSpaces(text) : text;
}

std::unique_ptr<StreamDecoder> HfTokenizer::NewStream(
    absl::Span<const int> before) const {
  auto stream = std::make_unique<HfStream>(*this);
  stream->Pass(before);
  return stream;
}

absl::string_view HfTokenizer::Piece(int id, Side side) const {
  return id < vocab_size(side) ? pieces_[id] : absl::string_view();
}

int HfTokenizer::TokenId(absl::string_view piece, Side) const {
  const auto found = std::lower_bound(
      sorted_.begin(), sorted_.end(), piece,
      [&](int id, absl::string_view text) { return pieces_[id] < text; });
  return found == sorted_.end() || pieces_[*found] != piece ? -1 : *found;
}

bool HfTokenizer::IsSpecial(int id, Side side) const {
  return id < vocab_size(side) && special_[id];
}

absl::string_view HfTokenizer::TokenText(int id) const {
  return id < vocab_size(Side::kTarget) ? texts_[id] : absl::string_view();
}

bool HfTokenizer::HasText(int id) const {
  return id < vocab_size(Side::kTarget) && !special_[id] &&
         !pieces_[id].empty();
}

std::vector<std::string> HfTokenizer::languages(Side side) const {
  if (languages_) return languages_->Codes();
  const std::string& one =
      side == Side::kSource ? config_.source_language : config_.target_language;
  return one.empty() ? std::vector<std::string>() : std::vector{one};
}

absl::StatusOr<int> HfTokenizer::LanguageId(absl::string_view language) const {
  if (!languages_) return Tokenizer::LanguageId(language);
  return languages_->Find(language);
}

}  // namespace attend
