#ifndef ATTEND_CLIENT_CPP_TOP_SCREEN_H_
#define ATTEND_CLIENT_CPP_TOP_SCREEN_H_

#include <deque>
#include <string>

#include "client/cpp/top/figures.h"

namespace attend {

// The size of a terminal, in characters.
struct ScreenSize {
  int columns = 80;
  int rows = 24;
};

// The picture of `attend top`: a line about the server, a table of models, and
// curves of the last readings. Each line ends with a newline and has at most
// size.columns characters; what does not fit into size.rows is left out. Names
// of models are shown without control characters.
class Screen {
 public:
  // Takes a reading for the curves.
  void Add(const ServerFigures& figures);
  std::string Draw(const ServerFigures& figures, ScreenSize size) const;

 private:
  struct Reading {
    double generated = 0;
    double read = 0;
    double queued = 0;
    double kv_percent = 0;  // of the model with the largest share
  };

  std::deque<Reading> readings_;  // the oldest first
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_TOP_SCREEN_H_
