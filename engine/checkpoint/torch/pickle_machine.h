#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_MACHINE_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/torch/byte_cursor.h"
#include "engine/checkpoint/torch/pickle_value.h"

namespace attend {

// The stack machine that a pickle is a program for, as far as ReadPickle()
// knows it. One thread.
class PickleMachine {
 public:
  PickleMachine(const std::string& place, absl::Span<const uint8_t> bytes)
      : place_(place), cursor_(bytes) {}

  absl::StatusOr<PickleValues> Run();

 private:
  using Items = std::vector<PickleId>;
  static constexpr size_t kMaxValues = size_t{1} << 21;

  absl::Status Error(absl::string_view text) const;
  // Runs one instruction, other than that which ends the pickle.
  absl::Status Step(uint8_t code);

  // The instructions by what they do; each of them may come only if the
  // function's group has it.
  absl::Status PushConstant(uint8_t code);
  absl::Status PushText(uint8_t code);
  absl::Status UseMemo(uint8_t code);
  absl::Status Memoize(uint64_t index);
  absl::Status MakeTuple(uint8_t code);
  absl::Status AddItems(uint8_t code);
  absl::Status AddPairs(uint8_t code);
  absl::Status PushGlobal(uint8_t code);
  absl::Status Build();
  absl::Status Reduce();
  absl::Status PushStorage();

  absl::Status PushName(absl::string_view module, absl::string_view name);
  // The values of calls of known names.
  absl::StatusOr<PickleValue> NewOrderedDict(const PickleValue& arguments);
  absl::StatusOr<PickleValue> NewTensor(const PickleValue& arguments);

  // INVALID_ARGUMENT if there are too many values.
  absl::Status Push(PickleValue value);
  absl::StatusOr<PickleId> Pop();
  // The values above the last mark, which goes.
  absl::StatusOr<Items> PopToMark();
  absl::StatusOr<PickleId> Top() const;
  const PickleValue& At(PickleId id) const { return result_.values[id]; }
  // The whole numbers from 0 up of a tuple or list.
  absl::StatusOr<std::vector<int64_t>> Naturals(PickleId id) const;

  const std::string& place_;
  ByteCursor cursor_;
  PickleValues result_;
  Items stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::unordered_map<uint64_t, PickleId> memo_;
  size_t copied_ = 0;  // items that were copied from value to value
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_MACHINE_H_
