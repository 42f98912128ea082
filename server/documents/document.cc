#include "server/documents/document.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/literals.h"
#include "server/documents/long_words.h"
#include "server/documents/markdown_reader.h"
#include "server/documents/nest_sentences.h"
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

// The bytes of a label of a list: "1)", "(a)", "iv)"; "a." if it is all of the
// text. 0: the text begins with none.
size_t LabelSize(absl::string_view text) {
  constexpr size_t kLongest = 4;
  const size_t open = absl::StartsWith(text, "(") ? 1 : 0;
  const absl::string_view label = text.substr(open);
  const auto run = [&](absl::string_view set) {
    return std::min(label.find_first_not_of(set), label.size());
  };
  size_t size = std::max(run("0123456789"), run("ivx"));
  if (size == 0 && !label.empty() && absl::ascii_isalpha(label[0])) size = 1;
  if (size == 0 || size > kLongest || size >= label.size()) return 0;
  const size_t end = open + size + 1;
  if (label[size] == ')') return end;
  const bool dotted = open == 0 && label[size] == '.' && size == 1 &&
                      absl::ascii_islower(label[0]) && end == text.size();
  return dotted ? end : 0;
}

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
    if (marks == 0) marks = LabelSize(rest);
    if (marks == rest.size()) return {sentence.end, sentence.end};
    const TextRange behind =
        Trim(text, {sentence.begin + static_cast<int>(marks), sentence.end});
    const bool spaced = behind.begin > sentence.begin + static_cast<int>(marks);
    if (marks == 0 || !spaced) return sentence;
    sentence = behind;
  }
}

// The sentences of so many bytes are found at once: up to a line break if there
// is one, which no sentence crosses.
constexpr size_t kLeastBlock = 64 << 10;
constexpr size_t kMostBlock = 256 << 10;

// Takes as many tokens as any name that stands in for something.
constexpr absl::string_view kLongestStandIn = " London ";

// A run, a block or a sentence takes at least as long as so many bytes do.
constexpr size_t kLeastWork = 64;

// Of a text of more than kMostBlock bytes.
size_t EndOfBlock(absl::string_view text) {
  const size_t line = text.substr(0, kMostBlock).find('\n', kLeastBlock);
  if (line != text.npos) return line + 1;
  const size_t space = text.substr(0, kMostBlock).rfind(' ');
  if (space != text.npos && space >= kLeastBlock) return space + 1;
  for (const BreakKind kind : {BreakKind::kWord, BreakKind::kCharacter}) {
    const int near = NearestBreak(text, kMostBlock, kind);
    if (near >= 0) return static_cast<size_t>(near);
  }
  size_t end = kMostBlock;
  while ((text[end] & 0xc0) == 0x80) --end;  // inside of a character
  return end;
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

}  // namespace

absl::StatusOr<std::unique_ptr<DocumentReader>> DocumentReader::Open(
    std::string source, DocumentOptions options) {
  auto reader = absl::WrapUnique(
      new DocumentReader(std::move(source), std::move(options)));
  const DocumentFormat format = reader->document_.format;
  if (format == DocumentFormat::kText) return reader;
  if (format == DocumentFormat::kMarkdown) {
    ASSIGN_OR_RETURN(reader->runs_,
                     MarkdownReader::Open(reader->document_.source));
    return reader;
  }
  ASSIGN_OR_RETURN(
      reader->runs_,
      RunReader::Open(reader->document_.source, format == DocumentFormat::kHtml
                                                    ? MarkupKind::kHtml
                                                    : MarkupKind::kXml));
  return reader;
}

DocumentReader::DocumentReader(std::string source, DocumentOptions options)
    : options_(std::move(options)),
      document_({.format = options_.format, .source = std::move(source)}) {}

Document DocumentReader::Take() {
  document_.sentences = NestSentences(std::move(document_.sentences));
  return std::move(document_);
}

absl::StatusOr<bool> DocumentReader::Read(size_t bytes) {
  size_t read = 0;
  while (read < bytes) {
    const std::optional<TextRange> part =
        cutter_ ? cutter_->Next() : std::nullopt;
    if (part) {
      read += kLeastWork + part->size();
      RETURN_IF_ERROR(AddPart(WithoutMarks(*part)));
    } else if (next_sentence_ < sentences_.size()) {
      cutter_.emplace(text_, sentences_[next_sentence_++], measure_);
    } else if (next_block_ < text_.size()) {
      // To find sentences takes less time than to read them.
      read += kLeastWork + FindSentences() / 8;
    } else {
      ASSIGN_OR_RETURN(const bool more, NextRun());
      if (!more) return true;
      read += kLeastWork;
    }
  }
  return false;
}

absl::StatusOr<bool> DocumentReader::NextRun() {
  cutter_.reset();
  if (runs_ != nullptr) {
    ASSIGN_OR_RETURN(std::optional<Run> run, runs_->Next());
    if (!run) return false;
    run_ = *std::move(run);
  } else {
    if (is_read_) return false;
    is_read_ = true;
    run_.AddEscaped(document_.source,
                    {0, static_cast<int>(document_.source.size())});
  }
  run_.MakeObjects(FindLongWords(run_.text()));
  text_ = Unbroken();
  next_block_ = 0;
  return true;
}

size_t DocumentReader::FindSentences() {
  const absl::string_view rest = absl::string_view(text_).substr(next_block_);
  const bool last = rest.size() <= kMostBlock;
  size_t size = last ? rest.size() : EndOfBlock(rest);
  const bool at_break = last || rest[size - 1] == '\n';
  cutter_.reset();
  sentences_ = SplitSentences(rest.substr(0, size), options_.language);
  // The last sentence may go on behind the block.
  if (!at_break && !sentences_.empty() && sentences_.back().begin > 0) {
    size = sentences_.back().begin;
    sentences_.pop_back();
  }
  for (TextRange& sentence : sentences_) {
    sentence.begin += static_cast<int>(next_block_);
    sentence.end += static_cast<int>(next_block_);
  }
  next_sentence_ = 0;
  next_block_ += size;
  return size;
}

// In HTML and XML a line break is a space; so many bytes as before.
std::string DocumentReader::Unbroken() const {
  std::string unbroken = run_.text();
  if (!IsMarkup(run_.escaping())) return unbroken;
  std::replace_if(
      unbroken.begin(), unbroken.end(),
      [](char c) { return absl::ascii_isspace(c); }, ' ');
  return unbroken;
}

// Marks of a list stand at the beginning of a line.
TextRange DocumentReader::WithoutMarks(TextRange sentence) const {
  return BeginsLine(text_, sentence.begin) ? WithoutListMarks(text_, sentence)
                                           : sentence;
}

absl::Status DocumentReader::AddPart(TextRange range) {
  if (!HasLetter(
          absl::string_view(run_.text()).substr(range.begin, range.size()))) {
    return absl::OkStatus();
  }
  if (static_cast<int>(document_.sentences.size()) >= options_.max_sentences) {
    return absl::OutOfRangeError(
        absl::StrFormat("has more than %d sentences", options_.max_sentences));
  }
  Sentence sentence =
      MakeSentence(document_.source, run_, range, *options_.glossary);
  if (HasWords(sentence)) document_.sentences.push_back(std::move(sentence));
  return absl::OkStatus();
}

// The model reads names in the place of objects and of literals.
double DocumentReader::Measure(absl::string_view text) const {
  const auto measure = [&](absl::string_view read) {
    return options_.measure(
        absl::StrReplaceAll(read, {{kObjectCharacter, kLongestStandIn}}));
  };
  // No name has this many times the tokens of what it stands in for.
  constexpr double kLongerNames = 4;
  const double written = measure(text);
  if (written <= 1 / kLongerNames) return written;
  std::string read;
  int done = 0;
  for (const Literal& literal : FindLiterals(text)) {
    if (literal.readable) continue;
    absl::StrAppend(&read, text.substr(done, literal.range.begin - done),
                    kLongestStandIn);
    done = literal.range.end;
  }
  if (done == 0) return written;
  absl::StrAppend(&read, text.substr(done));
  return measure(read);
}

}  // namespace attend
