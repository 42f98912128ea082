#ifndef ATTEND_CLIENT_CPP_CLI_LINE_EDITOR_H_
#define ATTEND_CLIENT_CPP_CLI_LINE_EDITOR_H_

#include <memory>
#include <optional>
#include <string>

namespace attend {

// Where `attend chat` keeps the lines that were typed: in
// $XDG_STATE_HOME, else ~/.local/state. Empty if there is no such directory.
std::string DefaultHistoryFile();

// Asks for lines on the terminal, which can be edited as in a shell (libedit,
// with the user's ~/.editrc), and are found again by the arrow keys. One object
// at a time; not thread-safe.
class LineEditor {
 public:
  // `history_file`: lines of earlier runs are there, and new ones are added, up
  // to a thousand; only the user may read it. Empty, or a file that cannot be
  // written: lines are kept while the object exists.
  explicit LineEditor(const std::string& history_file);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // The next line, without its end. Nothing at the end of input.
  std::optional<std::string> Next();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_LINE_EDITOR_H_
