#include "client/cpp/cli/line_editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

constexpr int kMaxLines = 1000;

// libedit's type has no const.
char* Prompt(EditLine*) {
  static char prompt[] = "> ";
  return prompt;
}

// Whether the file can be written. One that is new belongs to the user alone.
bool MakeFile(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                      ignored);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  close(file);
  return true;
}

}  // namespace

std::string DefaultHistoryFile() {
  if (const char* const state = std::getenv("XDG_STATE_HOME");
      state != nullptr && *state == '/') {
    return std::string(state) + "/attend/chat_history";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return "";
  return std::string(home) + "/.local/state/attend/chat_history";
}

class LineEditor::Impl {
 public:
  explicit Impl(const std::string& history_file)
      : file_(history_file.empty() || !MakeFile(history_file) ? ""
                                                              : history_file) {
    // Lines are UTF-8, where no locale says so, too.
    std::setlocale(LC_CTYPE, "");
    if (absl::string_view(nl_langinfo(CODESET)) != "UTF-8") {
      std::setlocale(LC_CTYPE, "C.UTF-8");
    }
    HistEvent event;
    history(history_, &event, H_SETSIZE, kMaxLines);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!file_.empty()) history(history_, &event, H_LOAD, file_.c_str());
    el_set(editor_, EL_PROMPT, &Prompt);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_HIST, &history, history_);
    el_source(editor_, nullptr);
  }
  ~Impl() {
    el_end(editor_);
    history_end(history_);
  }

  std::optional<std::string> Next() {
    // Before the prompt: a Ctrl-D that is typed as soon as it shows would be
    // lost when the terminal changes from lines to keys.
    el_set(editor_, EL_PREP_TERM, 1);
    el_resize(editor_);
    int count = 0;
    const char* const typed = el_gets(editor_, &count);
    if (typed == nullptr || count <= 0) return std::nullopt;
    absl::string_view line(typed);
    absl::ConsumeSuffix(&line, "\n");
    std::string text(line);
    if (!text.empty()) Keep(text);
    return text;
  }

 private:
  // At once: Ctrl-C ends the process.
  void Keep(const std::string& line) {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
    if (!file_.empty()) history(history_, &event, H_SAVE, file_.c_str());
  }

  const std::string file_;
  History* const history_ = history_init();
  EditLine* const editor_ = el_init("attend", stdin, stdout, stderr);
};

LineEditor::LineEditor(const std::string& history_file)
    : impl_(std::make_unique<Impl>(history_file)) {}

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::Next() { return impl_->Next(); }

}  // namespace attend
