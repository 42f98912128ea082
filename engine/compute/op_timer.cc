#include "engine/compute/op_timer.h"

#include <utility>

namespace attend {
namespace {

thread_local const char* name_now = "part";

}  // namespace

const char* OpTimer::NameNow() { return name_now; }

void OpTimer::Begin(const OpTime& op) {
  op_ = op;
  outer_ = std::exchange(name_now, op.name);
  op_.begin = watch_->Now();
}

void OpTimer::End() {
  op_.end = watch_->Now();
  name_now = outer_;
  watch_->OnOp(op_);
}

}  // namespace attend
