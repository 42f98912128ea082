#ifndef ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_MACHINE_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_MACHINE_H_

#include <string>
#include <utility>

namespace attend {

// The first thing that is wrong in a run.
class Complaint {
 public:
  void Add(std::string text) {
    if (text_.empty()) text_ = std::move(text);
  }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The work of a request: an encode, then a prompt, then new tokens, each of
// them if there is any.
struct SimulatedTask {
  int source = 0;
  int prompt = 0;  // tokens before the one after which the first is chosen
  int tokens = 0;
  int spare_tokens = 0;  // that it might have had, but for its end
  int beams = 1;
  bool samples = false;  // the beams part before the first token
  // The first `shared` tokens of the prompt are those of every request of the
  // same group.
  int group = 0;
  int shared = 0;

  bool decodes() const { return tokens > 0; }
  bool uses_blocks() const { return prompt + tokens > 0; }
};

// Memory, and the microseconds of a step.
struct SimulatedMachine {
  int blocks = 1 << 16;
  int encode_rows = 1 << 14;
  int max_step_rows = 4096;
  int max_beams = 8;
  double fixed = 1000;
  double decode_row = 50;
  double prompt_row = 20;

  static constexpr int kBlockTokens = 4;
  static constexpr int kGroups = 3;
  static constexpr int kMostShared = 64;  // tokens

  double Micros(int decode_rows, int prompt_rows) const {
    return fixed + decode_row * decode_rows + prompt_row * prompt_rows;
  }
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_SIMULATED_MACHINE_H_
