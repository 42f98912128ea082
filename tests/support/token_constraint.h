#ifndef ATTEND_TESTS_SUPPORT_TOKEN_CONSTRAINT_H_
#define ATTEND_TESTS_SUPPORT_TOKEN_CONSTRAINT_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/api/constraint.h"

namespace attend {

// A constraint that functions of the tokens so far make: whether a token may be
// the next, and whether the sequence may end.
struct TokenRules {
  int vocab = 0;
  std::function<bool(const std::vector<int>& tokens, int id)> allows =
      [](const std::vector<int>&, int) { return true; };
  std::function<bool(const std::vector<int>& tokens)> can_end =
      [](const std::vector<int>&) { return true; };
  std::function<std::optional<std::vector<int>>(const std::vector<int>& tokens,
                                                size_t most)>
      ending = [](const std::vector<int>&, size_t) { return std::nullopt; };
  // The number of tokens after which a mask fails.
  size_t fails_after = SIZE_MAX;
  // Called before a mask is made.
  std::function<void()> before = [] {};
};

class TokenConstraint final : public Constraint {
 public:
  explicit TokenConstraint(TokenRules rules)
      : rules_(std::make_shared<const TokenRules>(std::move(rules))) {}

  std::unique_ptr<ConstraintState> Begin() const override {
    return std::make_unique<State>(rules_);
  }

 private:
  class State final : public ConstraintState {
   public:
    explicit State(std::shared_ptr<const TokenRules> rules)
        : rules_(std::move(rules)) {}
    std::unique_ptr<ConstraintState> Copy() const override {
      return std::make_unique<State>(*this);
    }
    absl::Status Append(int id) override {
      if (!rules_->allows(tokens_, id)) {
        return absl::InvalidArgumentError(
            absl::StrCat("not allowed: ", id, " after ", tokens_.size()));
      }
      tokens_.push_back(id);
      return absl::OkStatus();
    }
    absl::StatusOr<bool> Mask(absl::Span<uint32_t> mask) override {
      rules_->before();
      if (tokens_.size() >= rules_->fails_after) {
        return absl::InvalidArgumentError("too much work");
      }
      std::fill(mask.begin(), mask.end(), 0);
      for (int id = 0; id < rules_->vocab; ++id) {
        if (rules_->allows(tokens_, id)) mask[id / 32] |= 1u << (id % 32);
      }
      return rules_->can_end(tokens_);
    }
    std::optional<std::vector<int>> Ending(size_t most) const override {
      return rules_->ending(tokens_, most);
    }

   private:
    std::shared_ptr<const TokenRules> rules_;
    std::vector<int> tokens_;
  };

  const std::shared_ptr<const TokenRules> rules_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_TOKEN_CONSTRAINT_H_
