#ifndef ATTEND_SERVER_SCHEDULER_DECISION_H_
#define ATTEND_SERVER_SCHEDULER_DECISION_H_

#include <vector>

namespace attend {

// What the next step computes. An index is that of a RequestView in the
// arguments of Batcher::Plan().
struct Decision {
  struct Rows {
    int index = 0;
    int rows = 0;
  };
  std::vector<Rows> running;   // pieces of running requests
  std::vector<Rows> admitted;  // first pieces of waiting requests
  std::vector<int> preempted;  // running requests that give their memory back
  int decode_rows = 0;
  int prompt_rows = 0;  // of prompts and encodes
  bool joint = true;    // no tenant was left out
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_DECISION_H_
