// The names that a pickle may call, and what they make.

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/checkpoint/torch/pickle_machine.h"
#include "engine/checkpoint/torch/torch_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kMaxDims = 8;
constexpr size_t kMaxNameInError = 200;

const TorchName& NameOf(const PickleValue& global) {
  return TorchNames()[static_cast<size_t>(global.number)];
}

}  // namespace

absl::Status PickleMachine::PushName(absl::string_view module,
                                     absl::string_view name) {
  if (!cursor_.ok()) return absl::OkStatus();  // Run() says that it is cut
  const absl::Span<const TorchName> known = TorchNames();
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].module != module || known[i].name != name) continue;
    return Push({.kind = known[i].kind == TorchNameKind::kDtype
                             ? PickleKind::kDtype
                             : PickleKind::kGlobal,
                 .number = static_cast<int64_t>(i)});
  }
  return absl::InvalidArgumentError(absl::StrCat(
      place_, ": the pickle names ", module.substr(0, kMaxNameInError), ".",
      name.substr(0, kMaxNameInError),
      ", expected tensors and dictionaries alone; nothing in it is run. Where "
      "the model comes from, save_pretrained() of transformers writes "
      "model.safetensors"));
}

absl::StatusOr<std::vector<int64_t>> PickleMachine::Naturals(
    PickleId id) const {
  const PickleValue& value = At(id);
  if ((value.kind != PickleKind::kTuple && value.kind != PickleKind::kList) ||
      value.items.size() > kMaxDims) {
    return Error(absl::StrCat("a tensor's size is no tuple of up to ", kMaxDims,
                              " numbers"));
  }
  std::vector<int64_t> numbers;
  numbers.reserve(value.items.size());
  for (const PickleId item : value.items) {
    const PickleValue& number = At(item);
    if (number.kind != PickleKind::kInt || number.number < 0) {
      return Error("a tensor's size is no whole number from 0 up");
    }
    numbers.push_back(number.number);
  }
  return numbers;
}

absl::StatusOr<PickleValue> PickleMachine::NewTensor(
    const PickleValue& arguments) {
  const std::vector<PickleId>& items = arguments.items;
  if (items.size() < 4 || At(items[0]).kind != PickleKind::kStorage ||
      At(items[1]).kind != PickleKind::kInt || At(items[1]).number < 0) {
    return Error("a tensor of something other than storage, offset and sizes");
  }
  TorchTensor tensor;
  tensor.storage = At(items[0]).number;
  tensor.offset = At(items[1]).number;
  ASSIGN_OR_RETURN(tensor.shape, Naturals(items[2]));
  ASSIGN_OR_RETURN(tensor.strides, Naturals(items[3]));
  if (tensor.shape.size() != tensor.strides.size()) {
    return Error("a tensor with other dimensions than strides");
  }
  result_.tensors.push_back(std::move(tensor));
  return PickleValue{
      .kind = PickleKind::kTensor,
      .number = static_cast<int64_t>(result_.tensors.size() - 1)};
}

// Takes no arguments, or a list of pairs (Python 2).
absl::StatusOr<PickleValue> PickleMachine::NewOrderedDict(
    const PickleValue& arguments) {
  PickleValue dict{.kind = PickleKind::kDict};
  if (arguments.items.empty()) return dict;
  const PickleValue& pairs = At(arguments.items[0]);
  if (arguments.items.size() > 1 || pairs.kind != PickleKind::kList) {
    return Error("a dictionary of something other than pairs");
  }
  copied_ += pairs.items.size();
  if (copied_ > kMaxValues) {
    return Error(absl::StrCat("more than ", kMaxValues, " pairs"));
  }
  dict.items.reserve(2 * pairs.items.size());
  for (const PickleId id : pairs.items) {
    const std::vector<PickleId>& pair = At(id).items;
    if (pair.size() != 2) {
      return Error("a dictionary of something other than pairs");
    }
    dict.items.insert(dict.items.end(), pair.begin(), pair.end());
  }
  return dict;
}

absl::Status PickleMachine::Reduce() {
  ASSIGN_OR_RETURN(const PickleId arguments_id, Pop());
  ASSIGN_OR_RETURN(const PickleId callee, Pop());
  const PickleValue& arguments = At(arguments_id);
  if (At(callee).kind != PickleKind::kGlobal ||
      arguments.kind != PickleKind::kTuple) {
    return Error("calls something that cannot be called");
  }
  PickleValue value;
  switch (NameOf(At(callee)).kind) {
    case TorchNameKind::kOrderedDict: {
      ASSIGN_OR_RETURN(value, NewOrderedDict(arguments));
      return Push(std::move(value));
    }
    case TorchNameKind::kRebuildTensor: {
      ASSIGN_OR_RETURN(value, NewTensor(arguments));
      return Push(std::move(value));
    }
    case TorchNameKind::kSize:
    case TorchNameKind::kRebuildParameter: {
      const PickleKind kind = NameOf(At(callee)).kind == TorchNameKind::kSize
                                  ? PickleKind::kTuple
                                  : PickleKind::kTensor;
      if (arguments.items.empty() || At(arguments.items[0]).kind != kind) {
        return Error("a parameter of no tensor, or a size of no tuple");
      }
      stack_.push_back(arguments.items[0]);
      return absl::OkStatus();
    }
    case TorchNameKind::kStorageType:
    case TorchNameKind::kDtype:
      break;
  }
  return Error("makes a storage, expected a reference to one");
}

// ("storage", type, key, device, elements), and in the older format whether it
// is a view of another one.
absl::Status PickleMachine::PushStorage() {
  ASSIGN_OR_RETURN(const PickleId id, Pop());
  const PickleValue& reference = At(id);
  const std::vector<PickleId>& items = reference.items;
  if (reference.kind != PickleKind::kTuple || items.size() < 5 ||
      items.size() > 6 || At(items[0]).kind != PickleKind::kString ||
      At(items[0]).text != "storage" ||
      At(items[1]).kind != PickleKind::kGlobal ||
      NameOf(At(items[1])).kind != TorchNameKind::kStorageType ||
      At(items[2]).kind != PickleKind::kString ||
      At(items[4]).kind != PickleKind::kInt || At(items[4]).number < 0) {
    return Error("refers to something other than a storage");
  }
  if (items.size() == 6 && At(items[5]).kind != PickleKind::kNone) {
    return Error("a storage that is a view of another one");
  }
  const TorchName& type = NameOf(At(items[1]));
  result_.storages.push_back({.key = At(items[2]).text,
                              .dtype = type.dtype,
                              .element_bytes = type.element_bytes,
                              .elements = At(items[4]).number});
  return Push({.kind = PickleKind::kStorage,
               .number = static_cast<int64_t>(result_.storages.size() - 1)});
}

}  // namespace attend
