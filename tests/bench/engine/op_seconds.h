#ifndef ATTEND_TESTS_BENCH_ENGINE_OP_SECONDS_H_
#define ATTEND_TESTS_BENCH_ENGINE_OP_SECONDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/compute/op_watch.h"

namespace attend {

// Divides the time of one thread into ops. The time of an op excludes that of
// the ops inside of it; waiting for the rest of the team counts as part of
// the op. Watches the ops of the process from the constructor to the
// destructor, on the thread that calls both; what other threads tell is
// dropped.
class OpSeconds final : public OpWatch {
 public:
  OpSeconds() { WatchOps(this); }
  ~OpSeconds() override { WatchOps(nullptr); }
  OpSeconds(const OpSeconds&) = delete;
  OpSeconds& operator=(const OpSeconds&) = delete;

  int64_t Now() override;
  void OnOp(const OpTime& op) override;

  // By the name of the op.
  std::map<std::string, double> seconds() const;

 private:
  struct Done {
    int64_t begin = 0;
    int64_t nanoseconds = 0;
  };

  const std::thread::id thread_ = std::this_thread::get_id();
  std::map<std::string, int64_t> nanoseconds_;
  std::vector<Done> done_;  // ops that no outer op has counted yet
};

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_ENGINE_OP_SECONDS_H_
