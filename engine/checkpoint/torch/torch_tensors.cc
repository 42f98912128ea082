#include "engine/checkpoint/torch/torch_tensors.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr absl::string_view kNested = "state_dict";

// The value of a key in a dictionary; null if it has no such key.
const PickleValue* Member(const PickleValues& pickle, const PickleValue& dict,
                          absl::string_view key) {
  const PickleValue* found = nullptr;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& name = pickle.values[dict.items[i]];
    if (name.kind == PickleKind::kString && name.text == key) {
      found = &pickle.values[dict.items[i + 1]];
    }
  }
  return found;
}

// Number of elements from the first to the last; false if it is beyond 2^63.
bool Reach(const TorchTensor& tensor, int64_t* reach) {
  *reach = 1;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 0) {
      *reach = 0;
      return true;
    }
    int64_t more = 0;
    if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &more) ||
        __builtin_add_overflow(*reach, more, reach)) {
      return false;
    }
  }
  return true;
}

// The product of the shape in bytes; false if it is beyond 2^63.
bool Size(const TorchTensor& tensor, int element_bytes, int64_t* size) {
  *size = element_bytes;
  for (const int64_t dim : tensor.shape) {
    if (__builtin_mul_overflow(*size, dim, size)) return false;
  }
  return true;
}

absl::StatusOr<TorchEntry> EntryOf(const std::string& place,
                                   const TorchTensor& tensor,
                                   const TorchStorage& storage,
                                   const StorageBytes& bytes) {
  const auto error = [&](absl::string_view text) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": ", text));
  };
  const auto found = bytes.find(storage.key);
  if (found == bytes.end()) {
    return error(
        absl::StrCat("its storage ", storage.key, " is not in the file"));
  }
  const size_t begin = found->second.begin;
  const size_t end = found->second.end;
  if (storage.elements !=
          static_cast<int64_t>((end - begin) / storage.element_bytes) ||
      (end - begin) % storage.element_bytes != 0) {
    return error(absl::StrCat("its storage ", storage.key, " has ", end - begin,
                              " bytes, expected ", storage.elements,
                              " elements of ", storage.dtype));
  }
  int64_t reach = 0;
  int64_t size = 0;
  if (!Reach(tensor, &reach) || !Size(tensor, storage.element_bytes, &size) ||
      tensor.offset > storage.elements ||
      reach > storage.elements - tensor.offset) {
    return error(absl::StrCat(
        "shape [", absl::StrJoin(tensor.shape, ", "), "] with strides [",
        absl::StrJoin(tensor.strides, ", "), "] from element ", tensor.offset,
        ", expected elements among the ", storage.elements, " of its storage ",
        storage.key));
  }
  TorchEntry entry{.dtype = std::string(storage.dtype),
                   .shape = tensor.shape,
                   .layout = LayoutOf(tensor.shape, tensor.strides)};
  entry.begin =
      begin + static_cast<size_t>(tensor.offset) * storage.element_bytes;
  entry.end =
      entry.begin +
      (entry.layout == TorchLayout::kOther ? 0 : static_cast<size_t>(size));
  return entry;
}

// The dictionary that may have tensors, or null.
const PickleValue* TableOf(const PickleValues& pickle) {
  const PickleValue& root = pickle.values[pickle.root];
  if (root.kind != PickleKind::kDict) return nullptr;
  const PickleValue* nested = Member(pickle, root, kNested);
  return nested != nullptr && nested->kind == PickleKind::kDict ? nested
                                                                : &root;
}

}  // namespace

absl::StatusOr<std::map<std::string, TorchEntry>> TensorsOf(
    const std::string& place, const PickleValues& pickle,
    const StorageBytes& storages) {
  const PickleValue* table = TableOf(pickle);
  if (table == nullptr || table->items.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": expected a dictionary of tensors"));
  }
  std::map<std::string, TorchEntry> tensors;
  for (size_t i = 0; i + 1 < table->items.size(); i += 2) {
    const PickleValue& name = pickle.values[table->items[i]];
    const PickleValue& value = pickle.values[table->items[i + 1]];
    if (name.kind != PickleKind::kString) {
      return absl::InvalidArgumentError(absl::StrCat(
          place,
          ": a key of the dictionary is no text, expected a dictionary "
          "of tensors by name"));
    }
    const std::string where = absl::StrCat(place, ": tensor ", name.text);
    if (value.kind != PickleKind::kTensor) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, " is something else, expected a dictionary of tensors alone"));
    }
    const TorchTensor& tensor =
        pickle.tensors[static_cast<size_t>(value.number)];
    const TorchStorage& storage =
        pickle.storages[static_cast<size_t>(tensor.storage)];
    ASSIGN_OR_RETURN(tensors[std::string(name.text)],
                     EntryOf(where, tensor, storage, storages));
  }
  return tensors;
}

}  // namespace attend
