#include "engine/checkpoint/torch/pickle_machine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/checkpoint/torch/pickle_codes.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr uint64_t kMaxProtocol = 5;

// A whole number of `count` bytes in two's complement.
int64_t Signed(uint64_t number, int count) {
  if (count == 0 || count == 8) return static_cast<int64_t>(number);
  const uint64_t sign = uint64_t{1} << (8 * count - 1);
  return static_cast<int64_t>((number ^ sign) - sign);
}

}  // namespace

absl::Status PickleMachine::Error(absl::string_view text) const {
  return absl::InvalidArgumentError(
      absl::StrCat(place_, ": byte ", cursor_.at(), " of the pickle: ", text));
}

absl::Status PickleMachine::Push(PickleValue value) {
  if (result_.values.size() >= kMaxValues) {
    return Error(absl::StrCat("more than ", kMaxValues, " values"));
  }
  stack_.push_back(static_cast<PickleId>(result_.values.size()));
  result_.values.push_back(std::move(value));
  return absl::OkStatus();
}

absl::StatusOr<PickleId> PickleMachine::Top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
    return Error("takes a value that is not there");
  }
  return stack_.back();
}

absl::StatusOr<PickleId> PickleMachine::Pop() {
  ASSIGN_OR_RETURN(const PickleId top, Top());
  stack_.pop_back();
  return top;
}

absl::StatusOr<PickleMachine::Items> PickleMachine::PopToMark() {
  if (marks_.empty()) return Error("takes a mark that is not there");
  const auto begin = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
  Items items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

absl::Status PickleMachine::PushConstant(uint8_t code) {
  const auto number = [&](PickleKind kind, int64_t value) {
    return Push({.kind = kind, .number = value});
  };
  switch (code) {
    case kPickleNone:
      return Push({});
    case kPickleTrue:
    case kPickleFalse:
      return number(PickleKind::kBool, code == kPickleTrue ? 1 : 0);
    case kPickleInt1:
      return number(PickleKind::kInt, static_cast<int64_t>(cursor_.Number(1)));
    case kPickleInt2:
      return number(PickleKind::kInt, static_cast<int64_t>(cursor_.Number(2)));
    case kPickleInt4:
      return number(PickleKind::kInt, Signed(cursor_.Number(4), 4));
    case kPickleLong1: {
      const int count = static_cast<int>(cursor_.Number(1));
      if (count > 8) return Error("a whole number beyond 64 bits");
      return number(PickleKind::kInt, Signed(cursor_.Number(count), count));
    }
    case kPickleFloat:
      cursor_.Take(8);
      return Push({.kind = PickleKind::kFloat});
    default:
      return Push({.kind = code == kPickleEmptyDict   ? PickleKind::kDict
                           : code == kPickleEmptyList ? PickleKind::kList
                                                      : PickleKind::kTuple});
  }
}

absl::Status PickleMachine::PushText(uint8_t code) {
  const int length = code == kPickleUnicode8                             ? 8
                     : code == kPickleUnicode1 || code == kPickleString1 ? 1
                                                                         : 4;
  return Push({.kind = PickleKind::kString,
               .text = cursor_.Text(cursor_.Number(length))});
}

absl::Status PickleMachine::UseMemo(uint8_t code) {
  switch (code) {
    case kPickleGet1:
    case kPickleGet4: {
      const auto found =
          memo_.find(cursor_.Number(code == kPickleGet1 ? 1 : 4));
      if (found == memo_.end()) return Error("takes a value that is not there");
      stack_.push_back(found->second);
      return absl::OkStatus();
    }
    case kPicklePut1:
      return Memoize(cursor_.Number(1));
    case kPicklePut4:
      return Memoize(cursor_.Number(4));
    default:
      return Memoize(memo_.size());
  }
}

absl::Status PickleMachine::Memoize(uint64_t index) {
  ASSIGN_OR_RETURN(const PickleId top, Top());
  memo_[index] = top;
  if (memo_.size() <= kMaxValues) return absl::OkStatus();
  return Error(absl::StrCat("keeps more than ", kMaxValues, " values"));
}

absl::Status PickleMachine::MakeTuple(uint8_t code) {
  PickleValue tuple{.kind = PickleKind::kTuple};
  if (code == kPickleTuple) {
    ASSIGN_OR_RETURN(tuple.items, PopToMark());
    return Push(std::move(tuple));
  }
  tuple.items.resize(code - kPickleTuple1 + 1);
  for (size_t i = tuple.items.size(); i > 0; --i) {
    ASSIGN_OR_RETURN(tuple.items[i - 1], Pop());
  }
  return Push(std::move(tuple));
}

absl::Status PickleMachine::AddItems(uint8_t code) {
  Items items(1);
  if (code == kPickleAppends) {
    ASSIGN_OR_RETURN(items, PopToMark());
  } else {
    ASSIGN_OR_RETURN(items[0], Pop());
  }
  ASSIGN_OR_RETURN(const PickleId id, Top());
  PickleValue& list = result_.values[id];
  if (list.kind != PickleKind::kList) return Error("appends to no list");
  list.items.insert(list.items.end(), items.begin(), items.end());
  return absl::OkStatus();
}

absl::Status PickleMachine::AddPairs(uint8_t code) {
  Items items(2);
  if (code == kPickleSetItems) {
    ASSIGN_OR_RETURN(items, PopToMark());
  } else {
    ASSIGN_OR_RETURN(items[1], Pop());
    ASSIGN_OR_RETURN(items[0], Pop());
  }
  ASSIGN_OR_RETURN(const PickleId id, Top());
  PickleValue& dict = result_.values[id];
  if (dict.kind != PickleKind::kDict || items.size() % 2 != 0) {
    return Error("sets items of no dictionary");
  }
  dict.items.insert(dict.items.end(), items.begin(), items.end());
  return absl::OkStatus();
}

absl::Status PickleMachine::PushGlobal(uint8_t code) {
  if (code == kPickleGlobal) {
    const absl::string_view module = cursor_.Line();
    return PushName(module, cursor_.Line());
  }
  ASSIGN_OR_RETURN(const PickleId name, Pop());
  ASSIGN_OR_RETURN(const PickleId module, Pop());
  if (At(name).kind != PickleKind::kString ||
      At(module).kind != PickleKind::kString) {
    return Error("names something by no text");
  }
  return PushName(At(module).text, At(name).text);
}

// State of an object: attributes of a dictionary ("_metadata") are not kept.
absl::Status PickleMachine::Build() {
  RETURN_IF_ERROR(Pop().status());
  ASSIGN_OR_RETURN(const PickleId id, Top());
  if (At(id).kind == PickleKind::kDict) return absl::OkStatus();
  return Error("sets attributes of something other than a dictionary");
}

absl::Status PickleMachine::Step(uint8_t code) {
  switch (GroupOf(code)) {
    case PickleGroup::kConstant:
      return PushConstant(code);
    case PickleGroup::kText:
      return PushText(code);
    case PickleGroup::kMemo:
      return UseMemo(code);
    case PickleGroup::kTuple:
      return MakeTuple(code);
    case PickleGroup::kItems:
      return AddItems(code);
    case PickleGroup::kPairs:
      return AddPairs(code);
    case PickleGroup::kGlobal:
      return PushGlobal(code);
    case PickleGroup::kMark:
      marks_.push_back(stack_.size());
      return absl::OkStatus();
    case PickleGroup::kBuild:
      return Build();
    case PickleGroup::kReduce:
      return Reduce();
    case PickleGroup::kPersistent:
      return PushStorage();
    case PickleGroup::kFrame:
      cursor_.Take(8);
      return absl::OkStatus();
    case PickleGroup::kProtocol: {
      const uint64_t protocol = cursor_.Number(1);
      if (protocol <= kMaxProtocol) return absl::OkStatus();
      return Error(absl::StrCat("protocol ", protocol, ", must be at most ",
                                kMaxProtocol));
    }
    case PickleGroup::kOther:
      break;
  }
  return Error(absl::StrFormat(
      "instruction 0x%02x, which no file of tensors needs", code));
}

absl::StatusOr<PickleValues> PickleMachine::Run() {
  while (true) {
    const uint8_t code = static_cast<uint8_t>(cursor_.Number(1));
    if (cursor_.ok() && code == kPickleStop) break;
    if (cursor_.ok()) RETURN_IF_ERROR(Step(code));
    if (!cursor_.ok()) return Error("it is cut here");
  }
  ASSIGN_OR_RETURN(result_.root, Pop());
  result_.bytes = cursor_.at();
  return std::move(result_);
}

}  // namespace attend
