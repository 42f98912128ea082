#ifndef ATTEND_SERVER_DOCUMENTS_MARKDOWN_BLOCK_H_
#define ATTEND_SERVER_DOCUMENTS_MARKDOWN_BLOCK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/markdown_marks.h"
#include "server/documents/run.h"

namespace attend {

// Makes the runs of a block of Markdown from what a parser finds in it: texts,
// and what begins and ends between them. The parser says where texts are in the
// document; the marks are the bytes between these.
//
// If the marks cannot be found there, the run is left out: its bytes stay.
class MarkdownBlock {
 public:
  // Writes runs that have text into `runs`. Both must outlive the object. The
  // block is after byte `begin`.
  MarkdownBlock(absl::string_view document, int begin, Escaping escaping,
                std::vector<Run>& runs)
      : document_(document),
        runs_(runs),
        floor_(begin),
        escaping_(escaping),
        run_(escaping) {}

  void AddEvent(MarkdownEvent event) { events_.push_back(event); }
  // Bytes of the document that are text (or a character reference), code, or a
  // part of a tag of HTML.
  void AddText(TextRange source, bool is_reference);
  void AddCode(TextRange source);
  void AddHtml(TextRange source);
  // The block ends.
  void Finish();

  // The end of the last text.
  int end() const { return floor_; }
  // The number of marks, tags, objects and escapes so far.
  int marks() const { return marks_; }

 private:
  // An element that is open.
  struct Open {
    MarkdownEvent::Kind kind;
    TextRange mark;
  };

  // Finds the marks of the events before a text at `begin`, and adds them.
  void TakeEvents(int begin);
  std::optional<std::vector<TextRange>> FindFirstMarks(int begin);
  void AddMark(MarkdownEvent event, TextRange mark);
  void BeginElement(MarkdownEvent::Kind kind, TextRange mark);
  void EndElement(MarkdownEvent::Kind kind, TextRange mark);
  // Bytes at the begin of a block that name a note or a kind of quotation.
  int LabelSize(TextRange source) const;
  void EndPicture(TextRange end);
  void EndRun();
  // What is inside of code, a picture, or the like, is no text.
  bool is_hidden() const { return hidden_ > 0 || !kept_.empty(); }

  const absl::string_view document_;
  std::vector<Run>& runs_;
  int floor_;  // the end of the text before
  const Escaping escaping_;
  Run run_;
  bool has_begun_ = false;             // a text of the block was there
  bool failed_ = false;                // marks were not found
  std::vector<MarkdownEvent> events_;  // since the last text
  std::vector<Open> open_;
  std::vector<bool> autolinks_;  // of the links of open_
  // The description of the picture that is open, if it is a text without marks.
  std::optional<Run> picture_;
  // Texts in tags of run_: descriptions of pictures, values of attributes.
  std::vector<Run> inner_;
  int hidden_ = 0;  // the number of elements of open_ whose content is no text
  int html_end_ = 0;  // of the last tag of HTML
  std::string kept_;  // an element of HTML that is not translated
  int kept_begin_ = 0, kept_depth_ = 0;
  int marks_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_MARKDOWN_BLOCK_H_
