#include "engine/runtime/load_shortlist.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxLineBytes = size_t{1} << 20;
// Each place of a source is looked up with so many tokens after it.
constexpr size_t kMaxSourceTokens = 16;

// A token or a line as an error shows it.
std::string Shown(absl::string_view text) {
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, 100)), "'");
}

// The lines of a file, and tokens as ids.
class Reader {
 public:
  // `vocab` is that of targets.
  Reader(const ShortlistFile& file, const Tokenizer& tokenizer, int vocab)
      : file_(file), tokenizer_(tokenizer), vocab_(vocab) {}

  absl::Status Open() {
    std::error_code error;
    if (!fs::is_regular_file(file_.path, error)) {
      return absl::NotFoundError(absl::StrCat(
          file_.path, ": ", error ? error.message() : "is not a file"));
    }
    stream_.open(file_.path, std::ios::binary);
    if (!stream_) {
      return absl::InvalidArgumentError(
          absl::StrCat(file_.path, ": cannot be read"));
    }
    return absl::OkStatus();
  }

  // The next line, without its end; nullopt at the end of the file.
  absl::StatusOr<std::optional<absl::string_view>> Next() {
    line_.clear();
    int byte = 0;
    while ((byte = stream_.get()) != std::ifstream::traits_type::eof() &&
           byte != '\n') {
      line_.push_back(static_cast<char>(byte));
      if (line_.size() > kMaxLineBytes) {
        ++lines_;
        return Error(absl::StrCat("has more than ", kMaxLineBytes, " bytes"));
      }
    }
    if (stream_.bad()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file_.path, ": cannot be read"));
    }
    if (line_.empty() && byte != '\n') return std::nullopt;
    ++lines_;
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    return line_;
  }

  // -1, and counted, if the vocabulary does not have the token.
  int TokenId(absl::string_view token, Side side) {
    const int id = tokenizer_.TokenId(token, side);
    if (id >= 0 && (side == Side::kSource || id < vocab_)) return id;
    if (unknown_++ == 0) first_unknown_ = Shown(token);
    return -1;
  }

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path, ": line ", lines_, " ", what));
  }
  // Of a file that has nothing for any source.
  absl::Status NothingKnown() const {
    return absl::InvalidArgumentError(absl::StrCat(
        file_.path, ": none of its ", lines_,
        " lines has source and target tokens that the model knows",
        unknown_ == 0
            ? std::string()
            : absl::StrCat("; the first that it does not is ", first_unknown_,
                           ". Is it the shortlist of another vocabulary?")));
  }

  const ShortlistFile& file() const { return file_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  int64_t lines() const { return lines_; }
  int64_t unknown() const { return unknown_; }

 private:
  const ShortlistFile& file_;
  const Tokenizer& tokenizer_;
  const int vocab_;
  std::ifstream stream_;
  std::string line_;
  int64_t lines_ = 0;
  int64_t unknown_ = 0;
  std::string first_unknown_;
};

using Line = absl::string_view;

// The ids of tokens between spaces; nullopt if one is unknown, and if `all` are
// wanted.
absl::StatusOr<std::optional<std::vector<int>>> ReadTokens(Reader& reader,
                                                           Line text, Side side,
                                                           bool all) {
  // CTranslate2 lets a line end with a space.
  if (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::vector<int> ids;
  if (text.empty()) return ids;
  bool known = true;
  for (const absl::string_view token : absl::StrSplit(text, ' ')) {
    if (token.empty()) {
      return reader.Error(absl::StrCat(
          "has two spaces between tokens, must have one: ", Shown(text)));
    }
    const int id = reader.TokenId(token, side);
    if (id >= 0) ids.push_back(id);
    known &= id >= 0;
  }
  if (all && !known) return std::nullopt;
  return ids;
}

// The lines of a vmap.txt.
class Mapping {
 public:
  explicit Mapping(Shortlist& shortlist) : shortlist_(shortlist) {}

  absl::Status Add(Reader& reader, Line line);
  // Whether a line was of use, or one that is for every source.
  bool known() const {
    return has_targets_ && (shortlist_.size() > 0 || !has_sources_);
  }

 private:
  Shortlist& shortlist_;
  bool has_sources_ = false;  // known or not
  bool has_targets_ = false;  // that are known
};

absl::Status Mapping::Add(Reader& reader, Line line) {
  const std::vector<absl::string_view> parts = absl::StrSplit(line, '\t');
  if (parts.size() != 2) {
    return reader.Error(absl::StrCat(
        "has ", parts.size() - 1,
        " tabs, must have one, between source tokens and target tokens: ",
        Shown(line)));
  }
  has_sources_ |= !parts[0].empty();
  ASSIGN_OR_RETURN(auto source, ReadTokens(reader, parts[0], Side::kSource,
                                           /*all=*/true));
  ASSIGN_OR_RETURN(auto targets, ReadTokens(reader, parts[1], Side::kTarget,
                                            /*all=*/false));
  if (!source) return absl::OkStatus();
  if (source->size() > kMaxSourceTokens) {
    return reader.Error(absl::StrCat("has ", source->size(),
                                     " source tokens, must have at most ",
                                     kMaxSourceTokens));
  }
  has_targets_ |= !targets->empty();
  if (source->empty()) {
    shortlist_.AddAlways(*targets);
  } else {
    shortlist_.Set(*std::move(source), *std::move(targets));
  }
  return absl::OkStatus();
}

// The translations of a source token, the best first, as Marian prunes them.
class Translations {
 public:
  void Add(int target, float probability) {
    entries_.push_back({probability, target});
  }
  std::vector<int> Best(size_t most) {
    // Of a target that stands there twice, the last line counts.
    std::stable_sort(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    std::reverse(entries_.begin(), entries_.end());
    entries_.erase(std::unique(entries_.begin(), entries_.end(),
                               [](const auto& a, const auto& b) {
                                 return a.second == b.second;
                               }),
                   entries_.end());
    std::sort(entries_.begin(), entries_.end(), std::greater<>());
    std::vector<int> best;
    for (const auto& [probability, target] : entries_) {
      if (best.size() == most || probability == 0) break;
      best.push_back(target);
    }
    return best;
  }

 private:
  std::vector<std::pair<float, int>> entries_;
};

using Lexicon = absl::flat_hash_map<int, Translations>;

absl::Status AddTranslation(Reader& reader, Line line, Lexicon& lexicon) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (fields.size() != 3) {
    return reader.Error(absl::StrCat(
        "has ", fields.size(),
        " fields, must have 3: target token, source token, probability: ",
        Shown(line)));
  }
  float probability = 0;
  if (!absl::SimpleAtof(fields[2], &probability) ||
      !std::isfinite(probability) || probability < 0) {
    return reader.Error(absl::StrCat("has the probability ", Shown(fields[2]),
                                     ", must be a number from 0 on"));
  }
  if (fields[0] == "NULL" || fields[1] == "NULL") return absl::OkStatus();
  const int target = reader.TokenId(fields[0], Side::kTarget);
  const int source = reader.TokenId(fields[1], Side::kSource);
  if (target >= 0 && source >= 0) lexicon[source].Add(target, probability);
  return absl::OkStatus();
}

// Whether source and target ids are those of one vocabulary.
bool OneVocabulary(const Tokenizer& tokenizer) {
  const int size = tokenizer.vocab_size(Side::kSource);
  if (tokenizer.vocab_size(Side::kTarget) != size) return false;
  for (int id = 0; id < size; ++id) {
    if (tokenizer.Piece(id, Side::kSource) !=
        tokenizer.Piece(id, Side::kTarget)) {
      return false;
    }
  }
  return true;
}

void AddLexicon(const Reader& reader, int vocab, Lexicon& lexicon,
                Shortlist& shortlist) {
  std::vector<int> first(std::min(reader.file().first, vocab));
  std::iota(first.begin(), first.end(), 0);
  shortlist.AddAlways(first);
  const bool shared = OneVocabulary(reader.tokenizer());
  const int sources = reader.tokenizer().vocab_size(Side::kSource);
  for (int source = 0; source < sources; ++source) {
    const auto found = lexicon.find(source);
    std::vector<int> targets;
    if (found != lexicon.end())
      targets = found->second.Best(reader.file().best);
    if (shared && source < vocab) targets.push_back(source);
    if (!targets.empty()) shortlist.Set({source}, std::move(targets));
  }
}

}  // namespace

absl::StatusOr<LoadedShortlist> LoadShortlist(const ShortlistFile& file,
                                              const Tokenizer& tokenizer,
                                              int vocab) {
  Reader reader(file, tokenizer, vocab);
  RETURN_IF_ERROR(reader.Open());
  auto shortlist = std::make_unique<Shortlist>(vocab);
  Mapping mapping(*shortlist);
  Lexicon lexicon;
  std::optional<bool> is_mapping;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Line> line, reader.Next());
    if (!line) break;
    if (!is_mapping) {
      if (line->substr(0, 2) == "\x1f\x8b") {
        return absl::InvalidArgumentError(
            absl::StrCat(file.path, ": is compressed; unpack it by gunzip"));
      }
      is_mapping = std::count(line->begin(), line->end(), '\t') == 1;
    }
    RETURN_IF_ERROR(*is_mapping ? mapping.Add(reader, *line)
                                : AddTranslation(reader, *line, lexicon));
  }
  const bool known =
      is_mapping.value_or(false) ? mapping.known() : !lexicon.empty();
  if (!known) return reader.NothingKnown();
  if (!*is_mapping) AddLexicon(reader, vocab, lexicon, *shortlist);
  return LoadedShortlist{
      .shortlist = std::move(shortlist),
      .counts = {.lines = reader.lines(), .unknown_tokens = reader.unknown()}};
}

}  // namespace attend
