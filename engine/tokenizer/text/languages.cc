#include "engine/tokenizer/text/languages.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kNamed = 8;  // languages that an error lists at most

// Whether `text` is spelled like `shape`, in which 'a' stands for any
// lower-case letter and 'A' for any upper-case letter.
bool Spelled(absl::string_view text, absl::string_view shape) {
  return text.size() == shape.size() &&
         std::equal(text.begin(), text.end(), shape.begin(),
                    [](char c, char like) {
                      if (like == 'a') return absl::ascii_islower(c);
                      if (like == 'A') return absl::ascii_isupper(c);
                      return c == like;
                    });
}

// The code of the language that a token names: "en" for "__en__"; "" if the
// token names no language.
absl::string_view CodeOf(absl::string_view token, absl::string_view name) {
  if (name == "NllbTokenizer") return Spelled(token, "aaa_Aaaa") ? token : "";
  if (name != "M2M100Tokenizer") return Spelled(token, "aa_AA") ? token : "";
  const bool is_code = Spelled(token, "__aa__") || Spelled(token, "__aaa__");
  return is_code ? token.substr(2, token.size() - 4) : "";
}

}  // namespace

std::optional<Languages> Languages::Create(
    const HfConfig& config, int vocab_size,
    absl::FunctionRef<absl::string_view(int id)> piece) {
  const std::string& name = config.tokenizer_class;
  if (name != "NllbTokenizer" && name != "M2M100Tokenizer" &&
      name != "MBartTokenizer" && name != "MBart50Tokenizer") {
    return std::nullopt;
  }
  Languages languages;
  languages.before_ = name != "MBartTokenizer" &&
                      !(name == "NllbTokenizer" && config.legacy_behaviour);
  const std::string eos = config.eos.empty() ? "</s>" : config.eos;
  for (int id = 0; id < vocab_size; ++id) {
    if (piece(id) == eos) languages.eos_id_ = id;
    const absl::string_view code = CodeOf(piece(id), name);
    if (!code.empty()) languages.ids_[std::string(code)] = id;
  }
  languages.default_source_ = config.source_language;
  if (languages.default_source_.empty()) {
    languages.default_source_ = name == "NllbTokenizer"     ? "eng_Latn"
                                : name == "M2M100Tokenizer" ? "en"
                                                            : "en_XX";
  }
  languages.default_target_ = config.target_language.empty()
                                  ? languages.default_source_
                                  : config.target_language;
  return languages;
}

std::vector<std::string> Languages::Codes() const {
  std::vector<std::string> codes;
  codes.reserve(ids_.size());
  for (const auto& [code, id] : ids_) codes.push_back(code);
  return codes;
}

absl::StatusOr<int> Languages::Find(absl::string_view language) const {
  const auto found = ids_.find(language);
  if (found != ids_.end()) return found->second;
  std::string some;
  size_t named = 0;
  for (const auto& [code, id] : ids_) {
    if (++named > kNamed) break;
    absl::StrAppend(&some, named > 1 ? ", " : "", code);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("language is \"", language, "\", must be one of ", some,
                   ids_.size() > kNamed
                       ? absl::StrCat(" and ", ids_.size() - kNamed, " more")
                       : ""));
}

absl::Status Languages::Frame(absl::string_view language, Side side,
                              Encoding& encoding) const {
  if (language.empty()) {
    language = side == Side::kSource ? default_source_ : default_target_;
  }
  ASSIGN_OR_RETURN(const int id, Find(language));
  std::fill(encoding.types.begin(), encoding.types.end(), 0);
  if (before_) {
    encoding.ids.insert(encoding.ids.begin(), id);
    encoding.types.insert(encoding.types.begin(), 0);
    encoding.origins.insert(encoding.origins.begin(), TokenOrigin());
  }
  encoding.Append(eos_id_, 0, {});
  if (!before_) encoding.Append(id, 0, {});
  return absl::OkStatus();
}

}  // namespace attend
