#include "server/documents/document.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/long_sentences.h"
#include "server/documents/run.h"
#include "server/documents/run_reader.h"
#include "server/documents/sentence_splitter.h"

namespace attend {
namespace {

// Marks of lists, quotes and headings that a line may begin with.
constexpr absl::string_view kListMarks[] = {"-",
                                            "*",
                                            "+",
                                            "#",
                                            ">",
                                            "|",
                                            "\xe2\x80\xa2",
                                            "\xe2\x80\x93",
                                            "\xe2\x80\x94",
                                            "\xc2\xb7"};

// The sentence without marks at its beginning that have a space behind them.
TextRange WithoutListMarks(absl::string_view text, TextRange sentence) {
  while (true) {
    const absl::string_view rest = text.substr(sentence.begin, sentence.size());
    size_t marks = 0;
    for (bool more = true; more;) {
      more = false;
      for (const absl::string_view mark : kListMarks) {
        if (!absl::StartsWith(rest.substr(marks), mark)) continue;
        marks += mark.size();
        more = true;
      }
    }
    const TextRange behind =
        Trim(text, {sentence.begin + static_cast<int>(marks), sentence.end});
    const bool spaced = behind.begin > sentence.begin + static_cast<int>(marks);
    if (marks == 0 || !spaced) return sentence;
    sentence = behind;
  }
}

// Whether there is something to translate: letters, and not in literals alone.
bool HasWords(const Sentence& sentence) {
  const absl::string_view text = sentence.text;
  int begin = 0;
  for (const FixedTerm& term : sentence.terms) {
    const TextRange range = term.range;
    if (HasLetter(text.substr(begin, range.begin - begin))) return true;
    const absl::string_view read = text.substr(range.begin, range.size());
    if (!term.stand_in && read != term.written) return true;
    begin = range.end;
  }
  return HasLetter(text.substr(begin));
}

// Adds the sentences of runs to a document.
class DocumentReader {
 public:
  DocumentReader(const DocumentOptions& options, Document& document)
      : options_(options), document_(document) {}

  absl::Status Add(const Run& run) {
    const std::string unbroken = Unbroken(run.text());
    const absl::string_view text = unbroken;
    for (const TextRange& sentence : SplitSentences(text, options_.language)) {
      for (const TextRange& part : CutToFit(text, sentence, fits_)) {
        RETURN_IF_ERROR(AddPart(run, WithoutMarks(text, part)));
      }
    }
    return absl::OkStatus();
  }

 private:
  // In markup a line break is a space; so many bytes as before.
  std::string Unbroken(const std::string& text) const {
    std::string unbroken = text;
    if (document_.format == DocumentFormat::kText) return unbroken;
    std::replace_if(
        unbroken.begin(), unbroken.end(),
        [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return unbroken;
  }

  // Marks of a list stand at the beginning of a line.
  TextRange WithoutMarks(absl::string_view text, TextRange sentence) const {
    const absl::string_view before = text.substr(0, sentence.begin);
    const size_t last = before.find_last_not_of(' ');
    const bool first = last == before.npos || before[last] == '\n';
    return first ? WithoutListMarks(text, sentence) : sentence;
  }

  absl::Status AddPart(const Run& run, TextRange range) {
    if (!HasLetter(
            absl::string_view(run.text()).substr(range.begin, range.size()))) {
      return absl::OkStatus();
    }
    if (static_cast<int>(document_.sentences.size()) >=
        options_.max_sentences) {
      return absl::OutOfRangeError(absl::StrFormat("has more than %d sentences",
                                                   options_.max_sentences));
    }
    Sentence sentence =
        MakeSentence(document_.source, run, range, *options_.glossary);
    if (HasWords(sentence)) document_.sentences.push_back(std::move(sentence));
    return absl::OkStatus();
  }

  // What stands in for an object is longer than kObjectCharacter.
  bool Fits(absl::string_view text) const {
    if (!absl::StrContains(text, kObjectCharacter)) return options_.fits(text);
    return options_.fits(
        absl::StrReplaceAll(text, {{kObjectCharacter, " London "}}));
  }

  const DocumentOptions& options_;
  Document& document_;
  const std::function<bool(absl::string_view)> fits_ =
      [this](absl::string_view text) { return Fits(text); };
};

}  // namespace

absl::StatusOr<Document> ReadDocument(std::string source,
                                      const DocumentOptions& options) {
  Document document = {.format = options.format, .source = std::move(source)};
  DocumentReader reader(options, document);
  if (options.format == DocumentFormat::kText) {
    Run run;
    run.AddText(document.source, {0, static_cast<int>(document.source.size())});
    if (!document.source.empty()) RETURN_IF_ERROR(reader.Add(run));
    return document;
  }
  RETURN_IF_ERROR(ReadRuns(document.source,
                           options.format == DocumentFormat::kHtml
                               ? MarkupKind::kHtml
                               : MarkupKind::kXml,
                           [&](Run& run) { return reader.Add(run); }));
  return document;
}

}  // namespace attend
