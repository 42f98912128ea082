#include "engine/tokenizer/spm/model_card.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/json/read_file.h"

namespace attend {
namespace {

constexpr size_t kLongestCard = size_t{1} << 20;
constexpr size_t kMostCodes = 1000;  // of a list

bool IsCode(absl::string_view text) {
  constexpr size_t kLongestCode = 32;
  return text.size() >= 2 && text.size() <= kLongestCode &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '-';
         });
}

// Adds the codes of a list, whose brackets, quotes and commas are no part of
// them.
void AddCodes(absl::string_view list, std::vector<std::string>& to) {
  for (absl::string_view word :
       absl::StrSplit(list, absl::ByAnyChar(" ,\t\r[]{}()'\"*"))) {
    if (!IsCode(word) || to.size() >= kMostCodes) continue;
    if (std::find(to.begin(), to.end(), word) == to.end()) {
      to.emplace_back(word);
    }
  }
}

// Reads the metadata: YAML between two lines "---".
class Metadata {
 public:
  explicit Metadata(std::vector<std::string>& languages)
      : languages_(languages) {}

  void Add(absl::string_view line) {
    const absl::string_view value = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, "language:")) {
      in_list_ = absl::StripAsciiWhitespace(line).empty();
      AddCodes(line, languages_);
    } else if (in_list_ && absl::StartsWith(value, "-")) {
      AddCodes(value.substr(1), languages_);
    } else if (!value.empty() && value[0] != '#') {
      in_list_ = false;
    }
  }

 private:
  std::vector<std::string>& languages_;
  bool in_list_ = false;
};

// The part in braces, if there is one: ('English', {'eng'}).
absl::string_view Set(absl::string_view line) {
  const size_t open = line.find('{');
  return open == line.npos ? line : line.substr(open);
}

// Reads a line of the text, "* source languages: en".
void ReadLine(absl::string_view line, ModelCard& card) {
  line = absl::StripAsciiWhitespace(line);
  while (absl::ConsumePrefix(&line, "*") || absl::ConsumePrefix(&line, "-") ||
         absl::ConsumePrefix(&line, " ")) {
  }
  for (const absl::string_view name :
       {"source languages:", "source language(s):", "source language:",
        "src_constituents:"}) {
    if (absl::ConsumePrefix(&line, name)) AddCodes(Set(line), card.sources);
  }
  for (const absl::string_view name :
       {"target languages:", "target language(s):", "target language:",
        "tgt_constituents:"}) {
    if (absl::ConsumePrefix(&line, name)) AddCodes(Set(line), card.targets);
  }
}

}  // namespace

ModelCard ParseModelCard(absl::string_view text) {
  ModelCard card;
  Metadata metadata(card.languages);
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // a byte order mark
  bool first = true;
  bool in_metadata = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool mark = absl::StripTrailingAsciiWhitespace(line) == "---";
    if (mark && (first || in_metadata)) {
      in_metadata = first;
    } else if (in_metadata) {
      metadata.Add(line);
    } else {
      ReadLine(line, card);
    }
    first = false;
  }
  return card;
}

ModelCard LoadModelCard(const std::string& directory) {
  const absl::StatusOr<std::string> text = ReadFile(directory + "/README.md");
  if (!text.ok() || text->size() > kLongestCard) return {};
  return ParseModelCard(*text);
}

}  // namespace attend
