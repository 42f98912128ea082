#include "server/documents/markdown_reader.h"

#include <md4c.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/character_references.h"
#include "server/documents/markdown_block.h"
#include "server/documents/markdown_tables.h"
#include "server/documents/run_reader.h"

namespace attend {
namespace {

// md4c calls back at most so often for a document of some size, but for one
// whose tables have many cells that are not there.
constexpr int64_t kMostCallsForByte = 8;
// md4c reads the destination and the title of a link again at each use.
constexpr int64_t kMostTargetBytes = 64 << 20;

// The number of bytes of the line that a text begins with.
size_t LineSize(absl::string_view text) {
  const size_t end = text.find('\n');
  return end == text.npos ? text.size() : end + 1;
}

// The number of bytes of front matter: lines of YAML or TOML between two lines
// of "---" or "+++" at the begin of a document; 0: there are none.
size_t FrontMatterSize(absl::string_view document) {
  size_t at = absl::StartsWith(document, "\xef\xbb\xbf") ? 3 : 0;
  const auto line = [&](size_t begin) {
    return absl::StripTrailingAsciiWhitespace(
        document.substr(begin, LineSize(document.substr(begin))));
  };
  const absl::string_view first = line(at);
  if (first != "---" && first != "+++") return at;
  for (size_t next = at + LineSize(document.substr(at)); next < document.size();
       next += LineSize(document.substr(next))) {
    const absl::string_view text = line(next);
    if (text == first || (text == "..." && first == "---")) {
      return next + LineSize(document.substr(next));
    }
  }
  return at;
}

// Takes what md4c finds.
class MarkdownParser {
 public:
  MarkdownParser(absl::string_view document, size_t begin)
      : document_(document),
        end_(static_cast<int>(begin)),
        calls_left_(kMostCallsForByte *
                    (static_cast<int64_t>(document.size()) + 8)) {}

  absl::StatusOr<std::vector<Run>> Parse() {
    const std::string text = tables_.Divide(document_.substr(end_));
    text_ = text;
    text_begin_ = end_;
    const MD_PARSER parser = {
        .abi_version = 0,
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS,
        .enter_block = [](MD_BLOCKTYPE type, void*,
                          void* self) { return Of(self).EnterBlock(type); },
        .leave_block = [](MD_BLOCKTYPE type, void*,
                          void* self) { return Of(self).LeaveBlock(type); },
        .enter_span =
            [](MD_SPANTYPE type, void* detail, void* self) {
              return Of(self).EnterSpan(type, detail);
            },
        .leave_span = [](MD_SPANTYPE type, void*,
                         void* self) { return Of(self).Span(type, false); },
        .text =
            [](MD_TEXTTYPE type, const MD_CHAR* text_of, MD_SIZE size,
               void* self) {
              return Of(self).Text(type, absl::string_view(text_of, size));
            },
        .debug_log = nullptr,
        .syntax = nullptr};
    const int result =
        md_parse(text.data(), static_cast<MD_SIZE>(text.size()), &parser, this);
    RETURN_IF_ERROR(status_);
    if (result != 0) {
      return absl::ResourceExhaustedError("no memory to read Markdown");
    }
    return std::move(runs_);
  }

 private:
  static MarkdownParser& Of(void* self) {
    return *static_cast<MarkdownParser*>(self);
  }
  // What md4c ends with, if it is not 0.
  int Result() {
    if (--calls_left_ < 0 || marks_ + BlockMarks() > kMostMarks) {
      status_ = absl::InvalidArgumentError(absl::StrFormat(
          "has more than %d blocks, marks and cells of tables", kMostMarks));
    }
    return status_.ok() ? 0 : -1;
  }
  int BlockMarks() const { return block_ ? block_->marks() : 0; }

  int EnterBlock(MD_BLOCKTYPE type) {
    EndBlock();
    ++marks_;
    if (type == MD_BLOCK_CODE) is_code_ = true;
    if (type == MD_BLOCK_HTML) html_ = TextRange{-1, -1};
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) is_cell_ = true;
    return Result();
  }

  int LeaveBlock(MD_BLOCKTYPE type) {
    EndBlock();
    if (type == MD_BLOCK_CODE) is_code_ = false;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) is_cell_ = false;
    if (type == MD_BLOCK_HTML) ReadHtml();
    return Result();
  }

  int EnterSpan(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_A) {
      const auto& link = *static_cast<MD_SPAN_A_DETAIL*>(detail);
      target_bytes_ += link.href.size + link.title.size;
    } else if (type == MD_SPAN_IMG) {
      const auto& image = *static_cast<MD_SPAN_IMG_DETAIL*>(detail);
      target_bytes_ += image.src.size + image.title.size;
    }
    if (target_bytes_ > kMostTargetBytes) {
      status_ = absl::InvalidArgumentError(absl::StrFormat(
          "destinations and titles of links have more than %d bytes, each "
          "counted as often as it is used",
          kMostTargetBytes));
    }
    return Span(type, true);
  }

  int Span(MD_SPANTYPE type, bool begins) {
    MarkdownEvent event = {.begins = begins};
    switch (type) {
      case MD_SPAN_EM:
        event.kind = MarkdownEvent::kEmphasis;
        break;
      case MD_SPAN_STRONG:
        event.kind = MarkdownEvent::kStrong;
        break;
      case MD_SPAN_A:
        event.kind = MarkdownEvent::kLink;
        break;
      case MD_SPAN_IMG:
        event.kind = MarkdownEvent::kImage;
        break;
      case MD_SPAN_CODE:
        event.kind = MarkdownEvent::kCode;
        break;
      case MD_SPAN_DEL:
        event.kind = MarkdownEvent::kStrikethrough;
        break;
      default:
        return Result();  // of extensions that are off
    }
    Block().AddEvent(event);
    return Result();
  }

  int Text(MD_TEXTTYPE type, absl::string_view text) {
    const TextRange source = SourceOf(text);
    if (html_) {
      if (source.begin >= 0) AddHtmlLine(source);
    } else if (is_code_) {
      // A block of code.
    } else if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) {
      Block().AddEvent({.kind = type == MD_TEXT_BR
                                    ? MarkdownEvent::kHardBreak
                                    : MarkdownEvent::kSoftBreak});
    } else if (source.begin >= 0) {
      if (type == MD_TEXT_CODE) {
        Block().AddCode(source);
      } else if (type == MD_TEXT_HTML) {
        Block().AddHtml(source);
      } else {
        Block().AddText(source, type == MD_TEXT_ENTITY);
      }
    }
    return Result();
  }

  // Where a text is in the document; begin is -1 if it is md4c's own.
  TextRange SourceOf(absl::string_view text) const {
    const std::less<const char*> before;
    if (before(text.data(), text_.data()) ||
        !before(text.data(), text_.data() + text_.size())) {
      return {-1, -1};
    }
    const int begin =
        text_begin_ +
        tables_.SourceOf(static_cast<int>(text.data() - text_.data()));
    return {begin, begin + static_cast<int>(text.size())};
  }

  MarkdownBlock& Block() {
    if (!block_) {
      block_.emplace(document_, end_,
                     is_cell_ ? Escaping::kTableCell : Escaping::kMarkdown,
                     runs_);
    }
    return *block_;
  }
  void EndBlock() {
    if (!block_) return;
    block_->Finish();
    end_ = block_->end();
    marks_ += block_->marks();
    block_.reset();
  }

  // In a quotation the lines of HTML have marks between them: they stay.
  void AddHtmlLine(TextRange line) {
    if (html_->begin < 0) {
      *html_ = line;
      return;
    }
    const absl::string_view between =
        document_.substr(html_->end, line.begin - html_->end);
    is_quoted_ |= absl::StrContains(between, '>');
    html_->end = line.end;
  }

  void ReadHtml() {
    const TextRange html = *html_;
    html_.reset();
    if (std::exchange(is_quoted_, false) || html.begin < 0) return;
    const auto reader = RunReader::Open(document_.substr(0, html.end),
                                        MarkupKind::kHtml, html.begin);
    status_.Update(reader.status());
    while (status_.ok()) {
      absl::StatusOr<std::optional<Run>> run = (*reader)->Next();
      status_.Update(run.status());
      if (!status_.ok() || !*run) break;
      marks_ += 1 + static_cast<int>((*run)->tags().size());
      runs_.push_back(**std::move(run));
    }
    end_ = html.end;
  }

  const absl::string_view document_;
  int end_;  // of the texts before the block
  MarkdownTables tables_;
  absl::string_view text_;  // that md4c reads
  int text_begin_ = 0;      // in the document
  int64_t calls_left_;
  int64_t target_bytes_ = 0;
  int marks_ = 0;
  bool is_code_ = false;
  bool is_cell_ = false;
  bool is_quoted_ = false;         // of html_
  std::optional<TextRange> html_;  // a block of HTML
  std::optional<MarkdownBlock> block_;
  std::vector<Run> runs_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MarkdownReader>> MarkdownReader::Open(
    absl::string_view document) {
  MarkdownParser parser(document, FrontMatterSize(document));
  ASSIGN_OR_RETURN(std::vector<Run> runs, parser.Parse());
  return absl::WrapUnique(new MarkdownReader(std::move(runs)));
}

absl::StatusOr<std::optional<Run>> MarkdownReader::Next() {
  if (next_ == runs_.size()) return std::nullopt;
  return std::move(runs_[next_++]);
}

}  // namespace attend
