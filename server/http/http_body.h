#ifndef ATTEND_SERVER_HTTP_HTTP_BODY_H_
#define ATTEND_SERVER_HTTP_HTTP_BODY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace attend {

// How many bytes the bodies of all requests have together. Thread-safe. Lives
// as long as there are bodies, so it is shared.
class BodyBudget {
 public:
  explicit BodyBudget(int64_t limit) : limit_(limit) {}

  int64_t limit() const { return limit_; }
  // False, and nothing is taken, if that would be more than the limit.
  bool Take(int64_t bytes) {
    if (taken_.fetch_add(bytes) + bytes <= limit_) return true;
    Return(bytes);
    return false;
  }
  void Return(int64_t bytes) { taken_.fetch_sub(bytes); }

 private:
  const int64_t limit_;
  std::atomic<int64_t> taken_{0};
};

// Bytes of the budget, which go back when their owner ends.
class BudgetedBytes {
 public:
  BudgetedBytes() = default;
  explicit BudgetedBytes(std::shared_ptr<BodyBudget> budget)
      : budget_(std::move(budget)) {}
  BudgetedBytes(BudgetedBytes&& other) noexcept
      : budget_(std::move(other.budget_)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  BudgetedBytes& operator=(BudgetedBytes&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BudgetedBytes() {
    if (bytes_ > 0) budget_->Return(bytes_);
  }

  // Takes more, to have `total` bytes. False: the budget does not have them.
  bool GrowTo(int64_t total) {
    if (total > bytes_ && !budget_->Take(total - bytes_)) return false;
    bytes_ = total;
    return true;
  }

 private:
  std::shared_ptr<BodyBudget> budget_;  // null: no bytes
  int64_t bytes_ = 0;
};

// The whole body of a request.
struct HttpBody {
  std::string text;
  BudgetedBytes budgeted;  // those of `text`
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_BODY_H_
