#include "tests/bench/engine/op_seconds.h"

#include <chrono>

namespace attend {

int64_t OpSeconds::Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void OpSeconds::OnOp(const OpTime& op) {
  if (std::this_thread::get_id() != thread_) return;
  const int64_t took = op.end - op.begin;
  int64_t inside = 0;
  for (; !done_.empty() && done_.back().begin >= op.begin; done_.pop_back()) {
    inside += done_.back().nanoseconds;
  }
  nanoseconds_[op.name] += took - inside;
  done_.push_back({.begin = op.begin, .nanoseconds = took});
}

std::map<std::string, double> OpSeconds::seconds() const {
  std::map<std::string, double> seconds;
  for (const auto& [name, nanoseconds] : nanoseconds_) {
    seconds[name] = static_cast<double>(nanoseconds) * 1e-9;
  }
  return seconds;
}

}  // namespace attend
