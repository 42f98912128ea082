#ifndef ATTEND_SERVER_SERVICE_WINDOW_LIST_H_
#define ATTEND_SERVER_SERVICE_WINDOW_LIST_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/service/text_windows.h"

namespace attend {

// The texts of a call that are read in windows. Each window is an input of the
// call; a text that could not be read has one input, which fails.
class WindowList {
 public:
  void Add(absl::StatusOr<TextWindows> windows) {
    const int inputs = windows.ok() ? windows->size() : 1;
    ends_.push_back(this->inputs() + inputs);
    texts_.push_back(std::move(windows));
  }

  int texts() const { return static_cast<int>(texts_.size()); }
  int inputs() const { return ends_.empty() ? 0 : ends_.back(); }
  // For each text the input after its last one.
  const std::vector<int>& ends() const { return ends_; }

  // The text of an input, and the input's place among those of the text.
  std::pair<int, int> At(int input) const;
  const absl::StatusOr<TextWindows>& of(int text) const { return texts_[text]; }

 private:
  std::vector<absl::StatusOr<TextWindows>> texts_;
  std::vector<int> ends_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_WINDOW_LIST_H_
